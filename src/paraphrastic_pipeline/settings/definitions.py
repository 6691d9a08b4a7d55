"""What a checked configuration says about a model: its runs, and the corpora and models that it needs."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from paraphrastic.base.files import Json
from paraphrastic_pipeline.registry.datasets import Dataset, RemoteFile
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition, ModelSections
from paraphrastic_pipeline.settings.sections.corpora import FileCorpus, Mined, OtherEncoder
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


def corpus_pairs(
    definition: Definition | Mined, datasets: Mapping[str, Dataset]
) -> list[tuple[str, tuple[str, str]]]:
    """A definition's corpora with the languages of their sides; for paraphrases, the same one twice.

    A corpus is repeated if it has several pairs of the definition's languages.
    """
    names = definition.names
    return [(name, pair) for name in names for pair in pairs_of(definition, name, datasets)]


def pairs_of(
    definition: Definition | Mined, name: str, datasets: Mapping[str, Dataset]
) -> list[tuple[str, str]]:
    """The pairs of languages that a definition takes from a corpus.

    Raises:
        InputError: the corpus has nothing in the definition's languages.
    """
    for corpus in definition.corpora:
        if isinstance(corpus, FileCorpus) and corpus.name == name and corpus.languages:
            return [(corpus.languages[0], corpus.languages[-1])]
    return datasets[name].pairs_among(definition.languages)


def selection_kind(pair: Sequence[str]) -> str:
    """The section of the selection that applies to pairs in these languages."""
    return "bitext" if len(set(pair)) > 1 else "paraphrase"


def undefined(model: str, definitions: Iterable[str]) -> str:
    """The message about a model that has no definition."""
    return f"{model!r} is not described under definitions; there are {', '.join(definitions)}"


def mining_system(encoder: str | OtherEncoder) -> str:
    """The system that an encoder of mined corpora is, in the form that `open_encoder` accepts."""
    if isinstance(encoder, str):
        return f"results/models/{encoder}"
    return encoder.place


def mined_datasets(config: Configuration, datasets: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """The mined corpora of a configuration as data sets; the version of each names what it is mined from."""
    made = {}
    for name, mined in config.mined.items():
        source, language = mined.languages
        bitexts = [f"{corpus} {datasets[corpus].version}" for corpus in mined.names if corpus in datasets]
        # Having neither or both of them is an error that is reported later.
        how = "by nothing"
        if translator := mined.translator:
            how = f"translated by {translator.model} with a beam of {translator.beam}"
        elif encoder := mined.encoder:
            system = encoder if isinstance(encoder, str) else mining_system(encoder)
            how = f"by the encoder {system} at {mined.min_similarity}"
        version = f"{source}-{language} of {' and '.join(bitexts)}, {how}"
        file = RemoteFile(name, f"{language}-{language}.parquet", (language,), (), version=version)
        made[name] = Dataset(name, version, "mined", "as its bitexts'", (file,))
    return made


def definitions_needed(config: Configuration) -> list[Definition | Mined]:
    """The definitions of the models, of their mined corpora, of the encoders of these corpora, and so on."""
    waiting: list[Key] = [("definitions", model) for model in config.models]
    needed: dict[Key, Definition | Mined] = {}
    while waiting:
        key = waiting.pop()
        if key not in needed:
            needed[key] = _entry(config, key)
            waiting += _needs(config, key)
    return list(needed.values())


def _entry(config: Configuration, key: Key) -> Definition | Mined:
    section, name = key
    return config.definitions[name] if section == "definitions" else config.mined[name]


def _needs(config: Configuration, key: Key) -> list[Key]:
    """What a definition needs, its mined corpora and teacher, or the encoder that a mined corpus needs."""
    entry = _entry(config, key)
    if isinstance(entry, Definition):
        teachers = {entry.training.distil, entry.training.teacher} & {*config.definitions}
        taught = [("definitions", teacher) for teacher in sorted(filter(None, teachers))]
        return [*taught, *(("mined", corpus) for corpus in entry.names if corpus in config.mined)]
    encoder = entry.encoder
    if isinstance(encoder, str) and encoder in config.definitions:
        return [("definitions", encoder)]
    return []


def path_of_needs(config: Configuration, start: Key, goal: Key) -> list[Key] | None:
    """The shortest path along needs from `start` to `goal`, both included; None if there is none."""
    ways, seen = [[start]], {start}
    while ways:
        path = ways.pop(0)
        for key in _needs(config, path[-1]):
            if key == goal:
                return [*path, key]
            if key not in seen:
                seen.add(key)
                ways.append([*path, key])
    return None
