"""Test what docs/extending.md adds (but for the encoder) in a copy of the project."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pipelines import ROOT, snakemake

Edit = Callable[[Path, str, str], None]

PAGE = ROOT / "docs" / "extending.md"


def examples(section: str) -> list[str]:
    """Return the examples of code in a section of the page."""
    own = re.search(rf"^## {section}\n(.*?)^## ", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert own, f"{PAGE.name} has no section {section}"
    return re.findall(r"^```py\n(.*?)^```$", own[1], re.M | re.S)


CONFIG = """
models: [fr]
definitions:
  fr: {languages: [en, fr], corpora: [sample_aligned]}
language_id: null
selection: {bitext: {language: null}}
contamination: {testsets: {sts: sample_sts}}
evaluation: {sts: sample_sts, bootstrap_samples: 100}
"""
RUN = ("--configfile", "config.yaml", "--")


def configure(folder: Path, *, more: str = "") -> None:
    (folder / "config.yaml").write_text(CONFIG + more)


@pytest.mark.slow("types the page's example")
def test_a_filter_is_a_setting_and_a_score(pipeline: Path, edit: Edit) -> None:
    setting, written = examples("A filter")
    package = pipeline / "src/paraphrastic_pipeline"
    place = "\n\n@section\nclass ParaphraseSelection"
    edit(package / "settings/sections/selection.py", place, f"{setting}{place}")
    filters = package / "corpus/filters.py"
    place = "# The filters in the order"
    edit(filters, place, f"{written}\n\n{place}")
    edit(filters, "(Rank, Length, Language,", "(Rank, Length, LengthRatio, Language,")
    configure(pipeline)
    edit(pipeline / "config.yaml", "{language: null}", "{language: null, length_ratio: 2}")
    run = snakemake(pipeline, *RUN, "results/selected/fr/sample_aligned/en-fr.parquet")
    assert run.returncode == 0, run.stdout
    folder = pipeline / "results/selected/fr/sample_aligned"
    assert json.loads((folder / "en-fr.counts.json").read_text())["dropped"]["length_ratio"] > 0


def test_a_table_is_a_function_and_a_rule(finished: Path, edit: Edit) -> None:
    function, rule = examples("A table")
    edit(finished / "rules/tables.smk", "rule tabulate_systems:", f"{rule}\n\nrule tabulate_systems:")
    (finished / "src/paraphrastic_pipeline/evaluation/sizes.py").write_text(function)
    run = snakemake(finished, "results/tables/sizes.csv")
    assert run.returncode == 0, run.stdout
    with (finished / "results/tables/sizes.csv").open(encoding="utf-8", newline="") as file:
        sizes = {row["model"]: float(row["MB"]) for row in csv.DictReader(file)}
    weights = finished / "results/models/en/model.safetensors"
    assert set(sizes) == {"en", "de", "es", "fr"}
    assert sizes["en"] == pytest.approx(weights.stat().st_size / 1e6, abs=0.01)


@pytest.mark.slow("types the page's example")
def test_a_task_is_a_function_that_a_table_names(pipeline: Path, edit: Edit) -> None:
    task, function = examples("A task")
    configure(pipeline)
    package = pipeline / "src/paraphrastic_pipeline/evaluation"
    edit(package / "tasks.py", "}\nLAYOUTS = {", f"{task}}}\nLAYOUTS = {{")
    (package / "detection.py").write_text(function)
    # The model that comes with the package, so no model has to be trained.
    place = pipeline / "src/paraphrastic/models/en"
    configure(pipeline, more=f"systems: {{theirs: {{path: {place}}}}}\n")
    edit(pipeline / "config.yaml", "{sts: sample_sts, b", "{only: {detection: [theirs]}, sts: sample_sts, b")
    run = snakemake(pipeline, *RUN, "results/tables/detection.md", "results/figures/detection.svg")
    assert run.returncode == 0, run.stdout
    with (pipeline / "results/tables/detection.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["system"], row["source"], row["data"]) == ("theirs", "measured", "sample")
    assert 0 < float(row["accuracy"]) < 100
    # The new table is among all tables and on the page of results.
    run = snakemake(pipeline, "--dry-run", "--forcerun", "evaluate_system", *RUN, "results/report.html")
    assert "Evaluate theirs on detection" in run.stdout


@pytest.mark.slow("makes training data")
def test_a_setting_is_declared_once_and_used_once(pipeline: Path, edit: Edit) -> None:
    setting, use = examples("A setting")
    package = pipeline / "src/paraphrastic_pipeline"
    place = "\n    @property\n    def only_autograd"
    edit(package / "settings/sections/training.py", place, f"{setting}{place}")
    place = "        encoder, files = initialize("
    edit(package / "training/train.py", place, f"{use}{place}")
    configure(pipeline, more="training: {min_pairs: -1, dimension: 8}\nvocabulary: {size: 300}\n")
    run = snakemake(pipeline, "--dry-run", *RUN, "all")
    assert "config: training.min_pairs: -1" in run.stdout
    edit(pipeline / "config.yaml", "min_pairs: -1", "min_pairs: 1000000")
    run = snakemake(pipeline, *RUN, "results/training/fr/dropout-0.0-megabatch-60/model.safetensors")
    assert re.search(r"train\.h5: has \d+ pairs; 1000000 are needed", run.stdout)
