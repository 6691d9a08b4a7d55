"""Recipes, and what a definition needs: the corpora and models from which it is made."""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from paraphrastic.base.files import Json
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition, ModelSections
from paraphrastic_pipeline.settings.sections.corpora import Mined
from paraphrastic_pipeline.settings.sections.fields import recipe_values
from paraphrastic_pipeline.settings.sections.training import Hyperparameters

# A section of the configuration and a name within it.
Key = tuple[str, str]

# Sections that a definition can override for its model.
OVERRIDABLE = tuple(field.name for field in fields(ModelSections))


# Named training settings: those of the papers, and better ones that we found (docs/recipe.md).
RECIPES: Mapping[str, Json] = {
    recipe: recipe_values(Hyperparameters, recipe) for recipe in ("paper", "best", "transformer")
}
# The filters of the papers' code, which replace the defaults if the whole configuration has the
# recipe `paper`: bitext by the length of the English side, ParaNMT by the mean length and the best label.
SELECTION_OF_PAPER: Json = {
    "bitext": {"length": {"min": 3, "max": 100, "count": "first"}, "language": None},
    "paraphrase": {
        "length": {"min": 5, "max": 40, "count": "mean"},
        "language": {"rule": "best", "min_probability": 0.0},
    },
}
# How text is counted and identified, if `text` does not say it, by the recipe of the whole configuration.
TEXT_BY_RECIPE: Mapping[str, Mapping[str, str]] = {
    "paper": {"words": "white_space", "identify": "original"},
    "best": {"words": "script", "identify": "model"},
    "transformer": {"words": "script", "identify": "model"},
}


def recipe_of(section: Mapping[str, Any]) -> str:
    """The recipe of a definition or of the whole configuration, which may not say it."""
    transformer = section.get("encoder", {}).get("transformer")
    return section.get("recipe") or ("transformer" if transformer else "best")


def merged(base: Mapping[str, Any], override: Mapping[str, Any]) -> Json:
    """A copy of nested mappings, in which those of `override` replace values key by key."""
    both = copy.deepcopy(dict(base))
    for key, value in override.items():
        here = both.get(key)
        if isinstance(value, Mapping) and isinstance(here, dict):
            both[key] = merged(here, value)
        else:
            both[key] = copy.deepcopy(value)
    return both


def undefined(model: str, definitions: Iterable[str]) -> str:
    """The message about a model that has no definition."""
    return f"{model!r} is not described under definitions; there are {', '.join(definitions)}"


def definitions_needed(config: Configuration) -> list[Definition | Mined]:
    """The definitions of the models, of their mined corpora, of the encoders of these corpora, and so on."""
    return list(needed(config, (("definitions", model) for model in config.models)).values())


def needed(config: Configuration, keys: Iterable[Key]) -> dict[Key, Definition | Mined]:
    """The entries under these keys, and all that they need."""
    waiting, found = [*keys], dict[Key, Definition | Mined]()
    while waiting:
        key = waiting.pop()
        if key not in found:
            section, name = key
            found[key] = config.definitions[name] if section == "definitions" else config.mined[name]
            waiting += needs(config, found[key])
    return found


def needs(config: Configuration, entry: Definition | Mined) -> list[Key]:
    """What an entry needs: a definition its teachers and mined corpora, a mined corpus its encoder."""
    mined, models = [], [entry.encoder] if isinstance(entry, Mined) else entry.teachers
    if isinstance(entry, Definition):
        mined = [("mined", name) for name in entry.names if name in config.mined]
    return [("definitions", str(model)) for model in models if model in config.definitions] + mined
