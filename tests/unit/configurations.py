"""The shipped configurations, and copies of them with changes."""

from pathlib import Path

import pytest
import yaml

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.registry.datasets import read_registry
from paraphrastic_pipeline.settings.check import check_config
from paraphrastic_pipeline.settings.sections.configuration import Configuration
from paraphrastic_pipeline.settings.sections.fields import as_json

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = "config/datasets.tsv"
# Settings for training data of the original code. The checks only need the files to exist.
REGISTRY = read_registry(ROOT / DEFAULT)
# Definitions of a model of translations and of a model of paraphrases without scores, to be completed.
GERMAN = {"languages": ["en", "de"], "corpora": ["sample_opus"]}
CAPTIONS = {"languages": ["en"], "corpora": ["multi30k_captions"]}


def load(name: str) -> dict:
    return yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text(encoding="utf-8"))


def configured(config: dict) -> Configuration:
    """The configuration as the pipeline has it: checked, completed and in the classes of its sections."""
    if config.get("registry", DEFAULT) == DEFAULT:  # the path is relative to the repository
        config = {**config, "registry": str(ROOT / DEFAULT)}
    return check_config(config)[0]


def checked(config: dict) -> dict:
    """The completed configuration as JSON."""
    return as_json(configured(config))


def changed(path: str, value: object) -> dict:
    """Return the default configuration with one key set to a value."""
    config = load("config")
    *parents, key = path.split(".")
    section = config
    for parent in parents:
        section = section.setdefault(parent, {})
    section[key] = value
    return config


def assert_fault(config: dict, path: str, cause: str) -> None:
    """Check that a line tells of a fault at a path, with this word of its cause."""
    with pytest.raises(InputError) as error:
        checked(config)
    lines = str(error.value).splitlines()
    assert any(line.startswith(f"config: {path}: ") and cause in line for line in lines), error
