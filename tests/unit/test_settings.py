"""Test that settings are declared once: their number, meanings, defaults and classes."""

from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from documentation import generate

import paraphrastic_pipeline.settings.sections as package
from paraphrastic_pipeline.settings.faults import keys_of, options_of

MODULES = [
    import_module(f"{package.__name__}.{path.stem}") for path in Path(package.__path__[0]).glob("*.py")
]


def sections_of(module: ModuleType) -> list[type]:
    kinds = (kind for kind in vars(module).values() if isinstance(kind, type) and is_dataclass(kind))
    return [kind for kind in kinds if kind.__module__ == module.__name__]


SECTIONS = [kind for module in MODULES for kind in sections_of(module)]


def leads_to_a_section(kind: Any) -> bool:
    options = list(options_of(kind))
    inside = [each for option in options for each in get_args(option)]
    return any(map(is_dataclass, options)) or any(map(leads_to_a_section, inside))


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
