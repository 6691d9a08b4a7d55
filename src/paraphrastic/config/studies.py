"""Studies: one model's definition with some settings varied, so that the rules of any model serve them."""

import copy
import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from paraphrastic.config.architecture import architecture_of, vocabularies

Json = dict[str, Any]

# What training data and vocabularies are made by.
_DATA = (
    "languages", "corpora", "dataset", "selection", "duplicates", "near_duplicates", "max_pairs", "vocabulary"
)  # fmt: skip


def variants(study: str, entry: Mapping[str, Any]) -> dict[str, Json]:
    """The settings of each model of a study, by the model's name: all combinations of the varied values.

    Args:
        study: its name.
        entry: `model`, and `vary`: lists of values by the path of the setting in a definition, such as
            `sweep.megabatch`.
    """
    combinations = product(*entry["vary"].values())
    return {
        f"{entry['model']}-{study}-{number}": dict(zip(entry["vary"], values, strict=True))
        for number, values in enumerate(combinations, start=1)
    }


def add_variants(config: Json) -> Iterator[str]:
    """Add the definitions of all studies' models; faults that hinder it."""
    for study, entry in config.get("studies", {}).items():
        base = config["definitions"].get(entry["model"])
        if base is None:
            there = ", ".join(config["definitions"])
            unknown = f"{entry['model']!r} is not described under definitions"
            yield f"studies.{study}.model: {unknown}; there are {there}"
            continue
        added = {}
        for name, settings in variants(study, entry).items():
            if name in config["definitions"]:
                yield f"studies.{study}: {name!r} is a definition already: give the study another name"
            definition = copy.deepcopy(base)
            for path, value in settings.items():
                _set(definition, path, value)
            added[name] = definition
        config["definitions"] |= added


def add_seeds(config: Json) -> Iterator[str]:
    """Add the definitions of all further training runs of models with several; faults that hinder it."""
    added: Json = {}
    for model, definition in config["definitions"].items():
        first = definition.get("seed", config.get("seed", 1))
        runs = seed_names(model, definition)
        for number, name in enumerate(runs[1:], start=1):
            if name in config["definitions"]:
                yield f"definitions.{model}.seeds: {name!r} is a definition already: give that another name"
            added[name] = copy.deepcopy(definition) | {"seed": first + number, "seeds": 1}
    config["definitions"] |= added


def seed_names(model: str, definition: Mapping[str, Any]) -> list[str]:
    """Names of a model's training runs, the first of which is the model."""
    return [model, *(f"{model}-seed-{number}" for number in range(2, definition.get("seeds", 1) + 1))]


def seed_runs(config: Mapping[str, Any], system: str) -> list[str]:
    """The systems that are training runs of one system; itself alone where that is no model, or untrained."""
    definition = config["definitions"].get(system)
    return [system] if definition is None else seed_names(system, definition)


def _set(definition: Json, path: str, value: Any) -> None:
    *sections, key = path.split(".")
    section = definition
    for name in sections:
        inner = section.setdefault(name, {})
        # What is no section is a fault that the schema finds.
        if not isinstance(inner, dict):
            inner = section[name] = {}
        section = inner
    # A sweep has lists; a study compares their single values.
    section[key] = [value] if sections == ["sweep"] and not isinstance(value, list) else copy.deepcopy(value)


def setting_name(settings: Mapping[str, Any]) -> str:
    """What a study's model has of its own, for a table: `sweep.megabatch 20`."""
    return ", ".join(
        f"{path} {value if isinstance(value, str) else json.dumps(value)}" for path, value in settings.items()
    )


def data_models(config: Mapping[str, Any]) -> dict[str, str]:
    """For each model the one whose training data and vocabularies are also its own.

    It is the first such model among those to build and then among all definitions, so that a definition for
    a study does not take over what a model has.
    """
    first: dict[str, str] = {}
    definitions = config["definitions"]
    order = dict.fromkeys([*config["models"], *definitions])
    return {model: first.setdefault(_digest(definitions[model]), model) for model in order}


def _digest(definition: Json) -> str:
    data = {key: definition[key] for key in _DATA}
    return json.dumps([data, vocabularies(definition), architecture_of(definition).tables], sort_keys=True)
