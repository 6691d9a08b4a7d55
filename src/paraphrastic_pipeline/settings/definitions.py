"""What makes a definition: recipes, models of studies, and further training runs.

Models of studies and training runs differ from another model in some settings. They become ordinary
definitions, so the same Snakemake rules build them.
"""

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import product
from typing import Any, NamedTuple

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json
from paraphrastic_pipeline.settings.faults import kind_at, parsed
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition, ModelSections
from paraphrastic_pipeline.settings.sections.evaluation import Study
from paraphrastic_pipeline.settings.sections.fields import as_json, recipe_values
from paraphrastic_pipeline.settings.sections.training import Hyperparameters

# Sections that a definition can override for its model.
OVERRIDABLE = tuple(field.name for field in fields(ModelSections))
# Named training settings: those of the papers, and better ones that we found (docs/recipe.md).
RECIPES: Mapping[str, Json] = {
    recipe: recipe_values(Hyperparameters, recipe) for recipe in ("paper", "best", "transformer")
}
# What the recipe `paper` of the whole configuration stands for besides: the papers' code counts words, and
# filters bitext by the length of the English side, and ParaNMT by the mean length and the best label.
OF_PAPER: Json = {
    "allow_few": True,
    "text": {"words": "white_space", "identify": "original"},
    "selection": {
        "bitext": {"length": {"min": 3, "max": 100, "count": "first"}, "language": None},
        "paraphrase": {
            "length": {"min": 5, "max": 40, "count": "mean"},
            "language": {"rule": "best", "min_probability": 0.0},
        },
    },
}


def recipe_of(section: Mapping[str, Any]) -> str:
    """The recipe of a definition or of the whole configuration, which may not say it."""
    transformer = section.get("encoder", {}).get("transformer")
    return section.get("recipe") or ("transformer" if transformer else "best")


def merged(base: Mapping[str, Any], override: Mapping[str, Any]) -> Json:
    """A copy of nested mappings, in which those of `override` replace values key by key."""
    both = copy.deepcopy(dict(base))
    for key, value in override.items():
        inside = isinstance(value, Mapping) and isinstance(both.get(key), dict)
        both[key] = merged(both[key], value) if inside else copy.deepcopy(value)
    return both


def undefined(model: str, definitions: Iterable[str]) -> str:
    """What is wrong with a model that has no definition."""
    return f"{model!r} is not described under definitions; there are {', '.join(definitions)}"


class Variant(NamedTuple):
    """A model of a study: the definition that it copies, its own `settings` by path, and their name."""

    model: str
    settings: Json
    name: str


def variants(study: str, models: Sequence[str], vary: Mapping[str, Any]) -> dict[str, Variant]:
    """The models of a study by their names: each definition with all combinations of the varied values.

    If nothing is varied, the models are the definitions themselves, and have their names.
    """
    if not vary:
        return {name: Variant(name, {}, name) for name in models}
    combinations = [*product(*(_named(path, values) for path, values in vary.items()))]
    return {
        f"{model}-{study}-{number}": Variant(
            model,
            {path: value for path, _, value in combination},
            ", ".join(name for _, name, _ in combination),
        )
        for model in models
        for number, combination in enumerate(combinations, start=1)
    }


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


def checked_studies(config: Configuration) -> dict[str, Study]:
    """The studies, with values in one form.

    Raises:
        InputError: one line for each path that leads to no setting, and for each value that does not fit.
    """
    studies, faults = {}, []
    for name, study in config.studies.items():
        vary = {}
        for path, values in study.vary.items():
            try:
                vary[path] = _checked(values, ("studies", name, "vary", path))
            except InputError as error:
                faults += str(error).splitlines()
        studies[name] = replace(study, vary=vary)
    if faults:
        raise InputError(*faults)
    return studies


def _checked(values: Any, at: Sequence[str]) -> Any:
    """The values of a setting, whose path is the last of `at`; sections stay without their defaults."""
    keys, is_named = at[-1].split("."), isinstance(values, Mapping)
    try:
        kind = kind_at(keys, Definition)
    except KeyError as error:
        raise InputError(f"config: {'.'.join(at)}: {error.args[0]}") from None
    # Settings of a sweep are lists, but a study compares their single values.
    kind = kind | kind_at([*keys, "0"], Definition) if keys[0] == "sweep" else kind
    # The types are made here, so the checker of types cannot know them.
    normal = as_json(parsed(dict[str, kind] if is_named else list[kind], values, at))  # type: ignore[valid-type]
    return values if "{" in json.dumps([*values.values()] if is_named else values) else normal


def all_definitions(config: Configuration, given: Mapping[str, Json]) -> dict[str, Json]:
    """The definitions as they were written, and those of models of studies and of further training runs.

    Raises:
        InputError: a name is taken, or a study names a model that has no definition.
    """
    definitions = dict(given)

    def add(model: str, name: str, settings: Mapping[str, Any], key: str) -> None:
        if model not in definitions:
            raise InputError(f"config: {key}: {undefined(model, given)}")
        if settings and name in definitions:
            raise InputError(f"config: {key}: {name!r} is a definition already; rename one of them")
        definitions.setdefault(name, copy.deepcopy(definitions[model]))
        for path, value in settings.items():
            _set(definitions[name], path, value)

    for study, entry in config.studies.items():
        for name, (model, settings, _) in variants(study, entry.model, entry.vary).items():
            add(model, name, settings, f"studies.{study}{'' if model in given else '.model'}")
    for model in config.language_choice.models if config.language_choice.prefixed else ():
        # Its tokens have their own parameters (Wieting et al. 2019, section 4.2).
        variant = {"encoder.languages": "separate"}
        add(model, prefixed_name(model), variant, "language_choice.prefixed")
    for model, definition in [*definitions.items()]:
        first = int(definition.get("seed", config.seed))
        for number, name in enumerate(seed_names(model, int(definition.get("seeds", 1)))[1:], start=1):
            add(model, name, {"seed": first + number, "seeds": 1}, f"definitions.{model}.seeds")
    return definitions


def _set(definition: Json, path: str, value: Any) -> None:
    *sections, key = path.split(".")
    section = definition
    for name in sections:
        section[name] = section = {**(section.get(name) or {})}
    # Settings of a sweep are lists, but a study compares their single values.
    section[key] = [value] if sections == ["sweep"] and not isinstance(value, list) else copy.deepcopy(value)
