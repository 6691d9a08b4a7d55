"""What the rules ask the library about a configuration, for tests of it."""

from functools import cache
from types import SimpleNamespace
from typing import Any

from configurations import ROOT, load

from paraphrastic_pipeline.settings.check import check_config
from paraphrastic_pipeline.workflow.corpora import Corpora
from paraphrastic_pipeline.workflow.evaluations import Evaluations
from paraphrastic_pipeline.workflow.models import Models
from paraphrastic_pipeline.workflow.outputs import Results

SECTIONS = ("contamination", "evaluation", "language_choice", "studies")


def results(name: str = "config", **changes: Any) -> Results:
    """Return the results of a configuration; `changes` are merged into its sections."""
    return read_results(name, changes) if changes else shipped_results(name)


@cache
def shipped_results(name: str) -> Results:
    return read_results(name, {})


def read_results(name: str, changes: dict[str, Any]) -> Results:
    config = load(name)
    for key, value in changes.items():
        config[key] = {**config.get(key, {}), **value} if key in SECTIONS else value
    config["registry"] = str(ROOT / "config/datasets.tsv")
    checked, datasets = check_config(config)
    return Results(Evaluations(Models(Corpora(checked, datasets, lambda path: f"ancient {path}"))), ROOT)


def of(**wildcards: str) -> SimpleNamespace:
    return SimpleNamespace(**wildcards)
