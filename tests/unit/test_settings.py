"""Test that settings are declared once: their meanings, their classes and what is made from them."""

from dataclasses import FrozenInstanceError, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal

import pytest
from configurations import ROOT, configured, load
from paraphrastic_pipeline.base.limits import Also, Length, Overrides, Range
from paraphrastic_pipeline.base.typed import faults, hints_of
from paraphrastic_pipeline.settings.completion import errors, fill_defaults, kind_at, normalize, section_in

import paraphrastic_pipeline.settings.sections as package
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition
from paraphrastic_pipeline.settings.sections.fields import (
    as_json,
    built,
    by_recipe,
    derived,
    internal,
    meanings,
    recipe_values,
    schema_of,
    section,
    setting,
)
from paraphrastic_pipeline.settings.sections.training import TrainingSettings

SECTIONS = [
    kind
    for path in sorted(Path(package.__path__[0]).glob("*.py"))
    for kind in vars(import_module(f"{package.__name__}.{path.stem}")).values()
    if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == f"{package.__name__}.{path.stem}"
]
SHIPPED = sorted(path.stem for path in (ROOT / "config").glob("*.yaml"))


@section
class Inner:
    """What is inside."""

    size: Annotated[int, Range(1, 9)] = 3
    """How large it is."""


@section
class Outer:
    """A section of a test."""

    needed: str
    name: Annotated[str, Also(Inner)] = "x"
    inner: Inner = setting(Inner)
    other: Inner | None = Inner(size=5)
    numbers: Annotated[list[float], Length(1, 3, distinct=True)] = setting([0.5])
    rate: Annotated[float, Range(0, 1, is_open=True)] | None = by_recipe(paper=None, best=0.5, transformer=1)
    changes: Annotated[dict[str, int], Overrides(lambda: Inner)] = setting({})
    follows: str | None = derived()
    nine: Literal["a", "b"] = setting("a", key="9")
    found: list[str] = internal(list)


# The text of these says what their settings mean.
SAID_BY_THE_SECTION = {
    "LengthFilter", "LanguageFilter", "Rank", "Span", "NearCopy", "NearDuplicates", "NearMatches",
    "TestsetNames", "EarlyStopping", "TrainingSettings",
}  # fmt: skip


def test_every_setting_has_a_meaning() -> None:
    unsaid = {
        kind.__name__
        for kind in SECTIONS
        for field in fields(kind)
        if field.name not in meanings(kind) and section_in(hints_of(kind)[field.name]) is None
    }
    assert unsaid == SAID_BY_THE_SECTION
    assert all(kind.__doc__ for kind in SECTIONS)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_configuration_is_the_same_after_it_was_written_and_read(name: str) -> None:
    config = configured(load(name))
    assert built(Configuration, as_json(config)) == config
    with pytest.raises(FrozenInstanceError):
        config.seed = 3  # type: ignore[misc]


def test_a_run_is_the_same_after_it_was_a_parameter_of_a_rule() -> None:
    (run, *_) = configured(load("config")).definitions["de"].runs.values()
    assert built(TrainingSettings, as_json(run)) == run


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"needed": "a"}, []),
        ({}, ["needed: is missing"]),
        ({"needed": None}, ["needed: has no value; text is needed"]),
        ({"needed": "a", "name": {"size": 3}}, []),
        ({"needed": "a", "name": {"size": 0}}, ["name.size: 0 is less than the minimum of 1"]),
        ({"needed": "a", "name": 3}, ["name: 3 is not text or a mapping with `key: value` lines"]),
        ({"needed": "a", "other": None}, []),
        ({"needed": "a", "numbers": []}, ["numbers: is empty"]),
        ({"needed": "a", "numbers": [1, 1]}, ["numbers: 1 is named twice"]),
        ({"needed": "a", "numbers": [1, 2, 3, 4]}, ["numbers: has 4 entries, at most 3 are allowed"]),
        ({"needed": "a", "rate": 0}, ["rate: 0 is less than or equal to the minimum of 0"]),
        ({"needed": "a", "rate": 1}, []),
        ({"needed": "a", "rate": 1.5}, ["rate: 1.5 is greater than the maximum of 1"]),
        ({"needed": "a", "rate": float("nan")}, ["rate: nan is not a number or null"]),
        ({"needed": "a", "changes": {"size": 10}}, ["changes.size: 10 is greater than the maximum of 9"]),
        ({"needed": "a", "changes": {"sice": 2}}, ["changes.sice: unknown key; did you mean 'size'?"]),
        ({"needed": "a", "9": "c"}, ["9: 'c' is not one of a, b"]),
        ({"needed": "a", "nine": "a"}, ["nine: unknown key; did you mean 'inner'?"]),
        ({"needed": "a", "found": []}, ["found: unknown key; known keys are "]),
        ({"needed": "a", "inner": {"size": 3.0}}, []),
        ({"needed": "a", "inner": {"size": 3.5}}, ["inner.size: 3.5 is not a whole number"]),
        ({"needed": "a", "inner": {"size": True}}, ["inner.size: True is not a whole number"]),
    ],
)
def test_what_does_not_fit_is_named(value: dict, lines: list[str]) -> None:
    found = errors(value, Outer)
    assert len(found) == len(lines)
    assert all(line.startswith(start) for line, start in zip(found, lines, strict=True)), found


def test_a_file_of_a_program_has_whole_numbers_without_a_point() -> None:
    assert [*faults({"size": 3.0}, Inner)] == ["size: 3.0 is not a whole number"]


def test_defaults_are_filled_in_down_to_the_last_section() -> None:
    value: dict = {"needed": "a", "inner": {}}
    fill_defaults(value, Outer)
    assert value == {
        "needed": "a", "name": "x", "inner": {"size": 3}, "other": {"size": 5}, "numbers": [0.5],
        "changes": {}, "9": "a",
    }  # fmt: skip
    assert recipe_values(Outer, "best") == {"rate": 0.5}
    made = built(Outer, normalize({**value, "rate": 1, "numbers": [2]}, Outer))
    assert made == Outer(needed="a", other=Inner(size=5), numbers=[2.0], rate=1.0)
    assert isinstance(made.rate, float)
    assert isinstance(made.numbers[0], float)
    assert as_json(made) == {**value, "rate": 1.0, "numbers": [2.0], "found": []}


def test_a_path_leads_to_the_kind_of_a_setting() -> None:
    assert kind_at(["training", "margin"], Definition) == hints_of(TrainingSettings)["margin"]
    assert section_in(kind_at(["training"], Definition)).__name__ == "Training"
    assert section_in(kind_at(["training", "margin"], Definition)) is None


def test_the_schema_says_what_the_check_does() -> None:
    rules = schema_of(Outer, documented=True)
    assert rules["required"] == ["needed"]
    assert rules["additionalProperties"] is False
    properties = rules["properties"]
    assert "found" not in properties
    assert properties["9"]["enum"] == ["a", "b"]
    assert properties["rate"]["exclusiveMinimum"] == 0
    assert properties["rate"]["recipes"] == {"paper": None, "best": 0.5, "transformer": 1}
    assert properties["inner"]["properties"]["size"]["description"] == "How large it is."
    assert properties["other"]["default"] == {"size": 5}
    assert properties["numbers"] == {
        "type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 3, "uniqueItems": True,
        "default": [0.5],
    }  # fmt: skip
