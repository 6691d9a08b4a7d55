"""Test that settings are declared once: their number, meanings, defaults and classes."""

from dataclasses import FrozenInstanceError, is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from configurations import ROOT, configured, load
from documentation import generate

import paraphrastic_pipeline.settings.sections as package
from paraphrastic_pipeline.settings.faults import keys_of, kind_at, options_of, parsed
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition, ModelSections
from paraphrastic_pipeline.settings.sections.fields import as_json

MODULES = [
    import_module(f"{package.__name__}.{path.stem}") for path in Path(package.__path__[0]).glob("*.py")
]
SHIPPED = sorted(path.stem for path in (ROOT / "config").glob("*.yaml"))
MOST_SETTINGS = 170


def sections_of(module: ModuleType) -> list[type]:
    kinds = (kind for kind in vars(module).values() if isinstance(kind, type) and is_dataclass(kind))
    return [kind for kind in kinds if kind.__module__ == module.__name__]


SECTIONS = [kind for module in MODULES for kind in sections_of(module)]


def leads_to_a_section(kind: Any) -> bool:
    options = list(options_of(kind))
    inside = [each for option in options for each in get_args(option)]
    return any(map(is_dataclass, options)) or any(map(leads_to_a_section, inside))


def paths(kind: Any, *path: str) -> set[str]:
    """The paths of all settings below a type; names that people give are stars."""
    found = set()
    for option in options_of(kind):
        inside = keys_of(option) if is_dataclass(option) else {}
        if not inside and leads_to_a_section(option):
            inside = {"*": get_args(option)[-1]}
        found |= {each for key, inner in inside.items() for each in paths(inner, *path, key)}
    return found or {".".join(path)}


def test_there_are_few_settings() -> None:
    """A definition repeats whole sections, and corpora are described alike in both places."""
    whole = {path.replace("mined.*.corpora", "definitions.*.corpora") for path in paths(Configuration)}
    again = {f"definitions.*.{path}" for path in paths(ModelSections)}
    assert again < whole
    assert 150 < len(whole - again) <= MOST_SETTINGS


# The text of these says what their settings mean.
SAID_BY_THE_SECTION = {
    "LengthFilter", "LanguageFilter", "Rank", "Span", "NearCopy", "TestsetNames", "EarlyStopping",
    "TrainingSettings",
}  # fmt: skip


def test_every_setting_has_a_meaning() -> None:
    unsaid = {
        kind.__name__
        for kind in SECTIONS
        for name, hint in keys_of(kind).items()
        if name not in generate.meanings(kind) and not leads_to_a_section(hint)
    }
    assert unsaid == SAID_BY_THE_SECTION
    assert all(kind.__doc__ for kind in SECTIONS)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_configuration_is_the_same_after_it_was_written_and_read(name: str) -> None:
    config = configured(load(name))
    assert parsed(Configuration, as_json(config)) == config
    with pytest.raises(FrozenInstanceError):
        config.seed = 3  # type: ignore[misc]


def test_a_path_leads_to_the_kind_of_a_setting() -> None:
    assert parsed(kind_at(["training", "epochs"], Definition), "3") == 3
    assert parsed(kind_at(["max_pairs", "CCMatrix"], Definition), 3.0) == 3
    assert parsed(kind_at(["sweep", "dropout", "0"], Definition), 0) == 0.0
    assert parsed(kind_at(["selection", "paraphrase", "trigram_overlap"], Definition), None) is None
    for path in (["training", "epoch"], ["seed", "x"]):
        with pytest.raises(KeyError, match="unknown key"):
            kind_at(path, Definition)
