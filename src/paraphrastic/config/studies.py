"""Models that differ from another one in some settings: of studies, and further training runs.

They are definitions like any other, so that the same rules make them.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from paraphrastic.config.architecture import architecture_of, vocabularies
from paraphrastic.config.names import undefined

Json = dict[str, Any]

# The settings that decide on training data and vocabularies.
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


def prefixed_name(model: str) -> str:
    """The name of a model's variant whose other language has prefixed tokens, so that nothing is shared."""
    return f"{model}-prefixed"


def seed_names(model: str, definition: Mapping[str, Any]) -> list[str]:
    """Names of a model's training runs, the first of which is the model."""
    return [model, *(f"{model}-seed-{number}" for number in range(2, definition.get("seeds", 1) + 1))]


def seed_runs(config: Mapping[str, Any], system: str) -> list[str]:
    """The systems that are training runs of one system; only itself if it is untrained or not a model."""
    definition = config["definitions"].get(system)
    return [system] if definition is None else seed_names(system, definition)


def add_models(config: Json) -> Iterator[str]:
    """Add the definitions of the models of studies and of further training runs; yield the faults.

    Where they are asked for, models of `language_choice` have prefixed variants. The paper's authors put a
    prefix before each token of the other language (Wieting et al. 2019, section 4.2): it is cut as before,
    and has parameters of its own.
    """
    for study, entry in config["studies"].items():
        if entry["model"] not in config["definitions"]:
            yield f"studies.{study}.model: {undefined(entry['model'], config['definitions'])}"
            continue
        for name, settings in variants(study, entry).items():
            yield from _add(config, entry["model"], name, settings, f"studies.{study}", "the study")
    choice = config["language_choice"]
    for number, model in enumerate(choice["models"]):
        if model not in config["definitions"]:
            yield f"language_choice.models.{number}: {undefined(model, config['definitions'])}"
        elif choice["prefixed"]:
            name = prefixed_name(model)
            separate = {"encoder.languages": "separate"}
            yield from _add(config, model, name, separate, "language_choice.prefixed", "it")
            # The variant stands for no published system.
            config["definitions"][name].pop("published_as", None)
    for model, definition in list(config["definitions"].items()):
        first = definition.get("seed", config["seed"])
        for number, name in enumerate(seed_names(model, definition)[1:], start=1):
            settings = {"seed": first + number, "seeds": 1}
            yield from _add(config, model, name, settings, f"definitions.{model}.seeds", "that")


def _add(config: Json, model: str, name: str, settings: Json, key: str, renamed: str) -> Iterator[str]:
    """Add a definition that differs from a model's in `settings`, given by their paths."""
    definitions = config["definitions"]
    if name in definitions:
        yield f"{key}: {name!r} is a definition already: give {renamed} another name"
    definitions[name] = copy.deepcopy(definitions[model])
    for path, value in settings.items():
        _set(definitions[name], path, value)


def _set(definition: Json, path: str, value: Any) -> None:
    *sections, key = path.split(".")
    section = definition
    for name in sections:
        inner = section.setdefault(name, {})
        # If it is not a section, the schema reports it afterwards.
        if not isinstance(inner, dict):
            inner = section[name] = {}
        section = inner
    # A sweep has lists; a study compares their single values.
    section[key] = [value] if sections == ["sweep"] and not isinstance(value, list) else copy.deepcopy(value)


def setting_name(settings: Mapping[str, Any]) -> str:
    """The settings in which a study's model differs, for a table: `sweep.megabatch 20`."""
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
