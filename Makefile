# The two commands of a newcomer: `make results` and `make test`. `make help` lists the others.
SHELL := bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin

.PHONY: help
help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

.venv/installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

.PHONY: install
install: .venv/installed  ## make .venv from the pinned requirements

.PHONY: results
results: .venv/installed  ## train and evaluate the sample's models: results/tables/sts.csv
	$(BIN)/snakemake --cores all all results/tables/sts.csv results/tables/sts.md
	@$(BIN)/python -c 'import pandas; print(pandas.read_csv("results/tables/sts.csv").to_string(index=False))'

.PHONY: report
report: .venv/installed  ## all tables and figures of the sample, and a page that shows them: results/report.html
	$(BIN)/snakemake --cores all all paper_tables results/report.html

# Processes that run tests side by side, each with one thread.
WORKERS ?= $(shell nproc)
PYTEST = PATH="$(CURDIR)/$(BIN):$$PATH" OMP_NUM_THREADS=1 $(BIN)/python -m pytest
PARALLEL = -n $(WORKERS) --dist loadgroup

.PHONY: test
test: .venv/installed  ## run the tests, without those that take minutes
	$(PYTEST) $(PARALLEL)

.PHONY: test-all
test-all: .venv/installed  ## run every test; those on a cluster have the machine for themselves
	$(PYTEST) $(PARALLEL) --slow -m "not cluster"
	$(PYTEST) --slow -m cluster

.PHONY: clean
clean:  ## remove the environment, the site and caches; results and downloads stay
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: lint
lint: .venv/installed  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/mypy
	$(BIN)/snakemake --lint
	$(BIN)/hadolint Dockerfile

.venv/docs/installed: requirements-docs.lock | .venv/installed
	$(PYTHON) -m venv .venv/docs
	.venv/docs/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.lock
	touch $@

.PHONY: docs
docs: .venv/docs/installed  ## build the site of the documentation: .venv/site/index.html
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/site.py .venv/pages
	NO_MKDOCS_2_WARNING=1 .venv/docs/bin/mkdocs build --quiet
	@echo "open .venv/site/index.html"

.PHONY: audit
audit: .venv/installed  ## ask PyPI for known vulnerabilities of the pinned packages (needs a network)
	$(PYTHON) -m venv .venv/audit
	.venv/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	.venv/audit/bin/pip-audit --requirement requirements.lock --no-deps --disable-pip

.PHONY: bench
bench: .venv/installed  ## measure speed and memory beside plain references: results/benchmarks/
	$(BIN)/python benchmarks/corpus.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/embedding.py
	$(BIN)/python benchmarks/mining.py
	$(BIN)/python benchmarks/search.py
