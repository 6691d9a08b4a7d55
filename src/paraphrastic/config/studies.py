"""Models of studies and further training runs, which differ from another model in some settings.

They become ordinary definitions, so the same Snakemake rules build them.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from paraphrastic.base.files import Json
from paraphrastic.config.architecture import architecture_of, vocabularies
from paraphrastic.config.definitions import undefined

# The settings that determine training data and vocabularies.
_DATA = (
    "languages", "corpora", "dataset", "selection", "duplicates", "near_duplicates", "max_pairs", "vocabulary"
)  # fmt: skip


def variants(study: str, entry: Mapping[str, Any]) -> dict[str, Json]:
    """The settings of each model of a study, by model name: all combinations of the varied values.

    Args:
        study: the study's name.
        entry: its `model`, and `vary`, which maps the path of a setting in a definition, such as
            `sweep.megabatch`, to a list of values.
    """
    combinations = product(*entry["vary"].values())
    return {
        f"{entry['model']}-{study}-{number}": dict(zip(entry["vary"], values, strict=True))
        for number, values in enumerate(combinations, start=1)
    }


def prefixed_name(model: str) -> str:
    """Name of a model's variant in which the other language's tokens have a prefix, so nothing is shared."""
    return f"{model}-prefixed"


def seed_names(model: str, definition: Mapping[str, Any]) -> list[str]:
    """Names of a model's training runs; the first is the model itself."""
    return [model, *(f"{model}-seed-{number}" for number in range(2, definition.get("seeds", 1) + 1))]


def seed_runs(config: Mapping[str, Any], system: str) -> list[str]:
    """The training runs of a system; only the system itself if it is untrained or not a model."""
    definition = config["definitions"].get(system)
    return [system] if definition is None else seed_names(system, definition)


def add_models(config: Json) -> Iterator[str]:
    """Add definitions for the models of studies and for further training runs, and yield errors.

    If the configuration asks for them, the models of `language_choice` get prefixed variants. The authors put
    a prefix before each token of the other language (Wieting et al. 2019, section 4.2): tokens are cut as
    before, but have their own parameters.
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
            # The variant corresponds to no published system.
            config["definitions"][name].pop("published_as", None)
    for model, definition in list(config["definitions"].items()):
        first = definition.get("seed", config["seed"])
        for number, name in enumerate(seed_names(model, definition)[1:], start=1):
            settings = {"seed": first + number, "seeds": 1}
            yield from _add(config, model, name, settings, f"definitions.{model}.seeds", "that")


def _add(config: Json, model: str, name: str, settings: Json, key: str, renamed: str) -> Iterator[str]:
    """Add a copy of a model's definition with other `settings`, whose keys are paths."""
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
        # If this key is not a section, the schema reports it later.
        if not isinstance(inner, dict):
            inner = section[name] = {}
        section = inner
    # Settings of a sweep are lists, but a study compares their single values.
    section[key] = [value] if sections == ["sweep"] and not isinstance(value, list) else copy.deepcopy(value)


def setting_name(settings: Mapping[str, Any]) -> str:
    """The settings of a study's model as a table shows them, such as `sweep.megabatch 20`."""
    return ", ".join(
        f"{path} {value if isinstance(value, str) else json.dumps(value)}" for path, value in settings.items()
    )


def data_models(config: Mapping[str, Any]) -> dict[str, str]:
    """For each model, the model whose training data and vocabularies it uses.

    It is the first one with the same data settings, among the models to build and then among all definitions.
    A study's definition therefore never takes over the data of a model.
    """
    first: dict[str, str] = {}
    definitions = config["definitions"]
    order = dict.fromkeys([*config["models"], *definitions])
    return {model: first.setdefault(_digest(definitions[model]), model) for model in order}


def _digest(definition: Json) -> str:
    data = {key: definition[key] for key in _DATA}
    return json.dumps([data, vocabularies(definition), architecture_of(definition).tables], sort_keys=True)
