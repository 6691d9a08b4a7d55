"""Models of studies and further training runs, which differ from another model in some settings.

They become ordinary definitions, so the same Snakemake rules build them.
"""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from paraphrastic.base.files import Json
from paraphrastic_pipeline.settings.definitions import undefined
from paraphrastic_pipeline.settings.sections.configuration import Configuration


class Variant(NamedTuple):
    """A model of a study: the definition that it copies, its own `settings` by path, and their name."""

    model: str
    settings: Json
    name: str


def shared_models(model: str | Sequence[str]) -> list[str]:
    """The definitions of a study, whose `model` is one name or several."""
    return [model] if isinstance(model, str) else list(model)


def variants(study: str, model: str | Sequence[str], vary: Mapping[str, Any]) -> dict[str, Variant]:
    """The models of a study by their names: each definition with all combinations of the varied values.

    `vary` maps the path of a setting in a definition, such as `sweep.megabatch`, to its values: a list, or a
    mapping with a name for each. If nothing is varied, the models are the definitions themselves, and the
    name of a setting is that of its model.
    """
    if not vary:
        return {name: Variant(name, {}, name) for name in shared_models(model)}
    combinations = list(product(*(_named(path, values) for path, values in vary.items())))
    variants = {}
    for base in shared_models(model):
        for number, combination in enumerate(combinations, start=1):
            settings = {path: value for path, _, value in combination}
            name = ", ".join(name for _, name, _ in combination)
            variants[f"{base}-{study}-{number}"] = Variant(base, settings, name)
    return variants


def _named(path: str, values: Any) -> list[tuple[str, str, Any]]:
    """The path, the name in tables, and the value of each setting, such as `sweep.megabatch 20`."""
    if isinstance(values, Mapping):
        return [(path, name, value) for name, value in values.items()]
    return [(path, f"{path} {_shown(value)}", value) for value in values]


def _shown(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return " + ".join(value)
    return value if isinstance(value, str) else json.dumps(value)


def prefixed_name(model: str) -> str:
    """Name of a model's variant in which the other language's tokens have a prefix, so nothing is shared."""
    return f"{model}-prefixed"


def seed_names(model: str, seeds: int) -> list[str]:
    """Names of a model's training runs; the first is the model itself."""
    return [model, *(f"{model}-seed-{number}" for number in range(2, seeds + 1))]


def seed_runs(config: Configuration, system: str) -> list[str]:
    """The training runs of a system; only the system itself if it is untrained or not a model."""
    definition = config.definitions.get(system)
    return [system] if definition is None else seed_names(system, definition.seeds)


def add_models(config: Json) -> Iterator[str]:
    """Add definitions for the models of studies and for further training runs, and yield errors.

    If the configuration asks for them, the models of `language_choice` get prefixed variants. The authors put
    a prefix before each token of the other language (Wieting et al. 2019, section 4.2): tokens are cut as
    before, but have their own parameters.
    """
    for study, entry in config["studies"].items():
        models = shared_models(entry["model"])
        if unknown := [model for model in models if model not in config["definitions"]]:
            yield f"studies.{study}.model: {undefined(unknown[0], config['definitions'])}"
            continue
        if not entry["vary"]:
            # Such a study compares definitions as they are.
            if len(models) == 1:
                yield f"studies.{study}.vary: is missing, so {models[0]!r} would be compared with nothing"
            continue
        for name, (model, settings, _) in variants(study, entry["model"], entry["vary"]).items():
            yield from _add(config, model, name, settings, f"studies.{study}", "the study")
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
        for number, name in enumerate(seed_names(model, definition.get("seeds", 1))[1:], start=1):
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


def data_models(config: Configuration) -> dict[str, str]:
    """For each model, the model whose training data and vocabularies it uses.

    It is the first one with the same data settings, among the models to build and then among all definitions.
    A study's definition therefore never takes over the data of a model.
    """
    first: dict[str, str] = {}
    order = dict.fromkeys([*config.models, *config.definitions])
    return {model: first.setdefault(config.definitions[model].data_digest, model) for model in order}
