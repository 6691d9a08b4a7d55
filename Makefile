# Newcomers need two commands, `make results` and `make test`. `make help` lists the others.
SHELL := bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin

.PHONY: help
help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

# uv installs the pinned packages, and knows where PyTorch's builds are: `make install TORCH=auto` takes the
# one for the GPU of the machine. pip would install gigabytes for GPUs. If a folder in pip's setting
# `find-links` has a build for processors, that one is used, so that no network is needed for it. Later targets keep
# the build that is there.
TORCH ?= $(or $(patsubst .venv/torch-%,%,$(wildcard .venv/torch-*)),cpu)
UV_PIP = $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python

# Each job is a process of its own. If Python kept no compiled modules, each would compile all its imports again.
unexport PYTHONDONTWRITEBYTECODE

$(BIN)/uv: requirements/uv.txt
	$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit((v < (3, 11) or v > (3, 13)) and "Python 3.11, 3.12 or 3.13 is needed; PYTHON=python3.13 names one. This is " + sys.version)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

.venv/torch-$(TORCH): requirements/torch.txt $(BIN)/uv
	{ [ $(TORCH) = cpu ] && $(BIN)/python -m pip install --quiet --no-index --no-deps -r $< 2>.venv/torch.log; } \
	  || $(UV_PIP) --reinstall-package torch --torch-backend=$(TORCH) -r $<
	rm -f .venv/torch-*
	touch $@

.venv/installed: requirements/pipeline.txt pyproject.toml .venv/torch-$(TORCH)
	$(UV_PIP) --require-hashes --no-deps -r $<
	$(UV_PIP) --no-deps --no-build-isolation --editable .
	touch $@

.venv/installed-all: requirements/all.txt .venv/installed
	$(UV_PIP) --require-hashes --no-deps -r $<
	touch $@

.venv/installed-frameworks: requirements/frameworks.txt .venv/installed-all
	$(UV_PIP) --require-hashes --no-deps -r $<
	touch $@

.PHONY: install
install: .venv/installed  ## make .venv with the pinned packages that the pipeline needs

.PHONY: install-all
install-all: .venv/installed-all  ## add what exports, tests and benchmarks need

.PHONY: install-frameworks
install-frameworks: .venv/installed-frameworks  ## add FastAPI, Chroma and other frameworks, for the tests of their recipes in docs/

# Pinned packages with their hashes, for every system and version of Python; UPGRADE=--upgrade takes newer ones.
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header $(UPGRADE)
PIPELINE_EXTRAS = pipeline slurm build
ALL_EXTRAS = $(PIPELINE_EXTRAS) chinese neural sentence-transformers model2vec onnx docs dev

.PHONY: lock
lock: $(BIN)/uv  ## pin what pyproject.toml asks for: requirements/ (needs a network)
	$(LOCK) --no-emit-package torch -c requirements/torch.txt $(PIPELINE_EXTRAS:%=--extra %) \
	  -o requirements/pipeline.txt pyproject.toml
	$(LOCK) --no-emit-package torch -c requirements/torch.txt -c requirements/pipeline.txt \
	  $(ALL_EXTRAS:%=--extra %) -o requirements/all.txt pyproject.toml
	$(LOCK) --no-emit-package torch -c requirements/torch.txt -c requirements/all.txt \
	  --extra frameworks -o requirements/frameworks.txt pyproject.toml
	echo uv | $(LOCK) -o requirements/uv.txt -
	$(BIN)/python envs/make.py

.PHONY: results
results: .venv/installed  ## train and evaluate the sample's models: results/tables/sts.csv
	$(BIN)/snakemake --cores all all results/tables/sts.csv results/tables/sts.md
	@$(BIN)/python -c 'import pandas; print(pandas.read_csv("results/tables/sts.csv").to_string(index=False))'

.PHONY: report
report: .venv/installed  ## all tables and figures of the sample, and a page that shows them: results/report.html
	$(BIN)/snakemake --cores all all paper_tables results/report.html

# The four papers' configurations on small data, each in a folder of its own. MIRROR has the data; without it, they
# are downloaded.
PAPERS = paper papers/paranmt50m papers/simple_effective papers/mined_paraphrases

.PHONY: papers
papers: .venv/installed-all  ## every table of the papers on small stand-in data, within 90 minutes on two cores: results/papers/
	for paper in $(PAPERS); do \
	  name=$${paper##*/} && folder=results/papers/$$name && mkdir -p $$folder && ln -sfn "$(CURDIR)/config" "$(CURDIR)/data" $$folder \
	    && $(BIN)/snakemake --cores all --directory $$folder \
	      --configfile config/$$paper.yaml config/papers/scaled/$$name.yaml \
	      $(if $(MIRROR),--config mirror=$(abspath $(MIRROR))) -- paper_tables results/report.html || exit; \
	done

# Processes that run tests side by side, each with one thread.
WORKERS ?= $(shell nproc)
PYTEST = PATH="$(CURDIR)/$(BIN):$$PATH" OMP_NUM_THREADS=1 $(BIN)/python -m pytest
PARALLEL = -n $(WORKERS) --dist loadgroup

.PHONY: test
test: .venv/installed-all  ## run the tests, without those that take minutes
	$(PYTEST) $(PARALLEL)

.PHONY: test-all
test-all: .venv/installed-all  ## run every test; those on a cluster have the machine for themselves
	export PARAPHRASTIC_MADE=$$(mktemp -d) && trap 'rm -rf "$$PARAPHRASTIC_MADE"' EXIT \
	  && $(PYTEST) $(PARALLEL) --slow -m "not cluster" && $(PYTEST) --slow -m cluster

.PHONY: clean
clean:  ## remove the environment, the site and caches; results and downloads stay
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: lint
lint: .venv/installed-all  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/mypy
	$(BIN)/snakemake --lint
	$(BIN)/hadolint Dockerfile

# The address that this was cloned from, if it is one of the web and tells no secrets.
REPOSITORY ?= $(shell git config --get remote.origin.url | grep -E '^https://[^@?]+$$')

.PHONY: docs
docs: .venv/installed-all  ## build the site of the documentation: .venv/site/index.html
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/site.py .venv/pages
	REPOSITORY=$(REPOSITORY) NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "open .venv/site/index.html"

.PHONY: audit
audit: .venv/installed  ## ask PyPI for known vulnerabilities of the pinned packages (needs a network)
	$(PYTHON) -m venv .venv/audit
	.venv/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	.venv/audit/bin/pip-audit --requirement requirements/all.txt --no-deps --disable-pip

.PHONY: bench
bench: .venv/installed-all  ## measure speed and memory beside plain references: results/benchmarks/
	$(BIN)/python benchmarks/corpus.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/embedding.py
	$(BIN)/python benchmarks/search.py
