"""What the rules ask the library about a configuration, for tests of it."""

from functools import cache
from types import SimpleNamespace
from typing import Any

from configurations import ROOT, load

from paraphrastic_pipeline.settings.check import check_config
from paraphrastic_pipeline.workflow.pipeline import Pipeline

SECTIONS = ("contamination", "evaluation", "language_choice", "studies")


def pipeline(name: str = "config", **changes: Any) -> Pipeline:
    """Return what a configuration says; `changes` are merged into its sections."""
    return read_pipeline(name, changes) if changes else shipped_pipeline(name)


@cache
def shipped_pipeline(name: str) -> Pipeline:
    return read_pipeline(name, {})


def read_pipeline(name: str, changes: dict[str, Any]) -> Pipeline:
    config = load(name)
    for key, value in changes.items():
        config[key] = {**config.get(key, {}), **value} if key in SECTIONS else value
    config["registry"] = str(ROOT / "config/datasets.tsv")
    checked, datasets = check_config(config)
    return Pipeline(checked, datasets, lambda path: f"ancient {path}")


def of(**wildcards: str) -> SimpleNamespace:
    return SimpleNamespace(**wildcards)
