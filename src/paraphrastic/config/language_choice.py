"""Models whose languages are compared as company for English, and each once more with prefixed tokens."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from paraphrastic.config.architecture import architecture_of

Json = dict[str, Any]


def prefixed_name(model: str) -> str:
    """The name of a model's variant whose other language has prefixed tokens, so that nothing is shared."""
    return f"{model}-prefixed"


def add_prefixed(config: Json) -> Iterator[str]:
    """Add the definitions of these variants, where they are asked for; faults that hinder it.

    The paper's authors put a prefix before each token of the other language (Wieting et al. 2019, section
    4.2): it is segmented as before, and has parameters of its own.
    """
    study = config.get("language_choice", {})
    definitions = config["definitions"]
    for number, model in enumerate(study.get("models", [])):
        if model not in definitions:
            there = ", ".join(definitions)
            unknown = f"{model!r} is not described under definitions"
            yield f"language_choice.models.{number}: {unknown}; there are {there}"
        elif study.get("prefixed"):
            name = prefixed_name(model)
            if name in definitions:
                yield f"language_choice.prefixed: {name!r} is a definition already: give it another name"
            variant = copy.deepcopy(definitions[model])
            # No published system is meant by it.
            variant.pop("published_as", None)
            variant.setdefault("encoder", {})["languages"] = "separate"
            definitions[name] = variant


def choice_faults(config: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the study that a schema cannot find; all definitions are complete."""
    study = config["language_choice"]
    models: dict[str, str] = {}
    for number, model in enumerate(study["models"]):
        at = f"language_choice.models.{number}: {model!r}"
        definition = config["definitions"][model]
        languages = definition["languages"]
        if len(languages) != 2 or "en" not in languages:
            yield f"{at} is a model of {' and '.join(languages)}; needed is one of English and another one"
            continue
        (other,) = (language for language in languages if language != "en")
        if other in models:
            yield f"{at} and {models[other]!r} are both of {other}; each language counts once"
        models.setdefault(other, model)
        if study["prefixed"] and architecture_of(definition).tables == "separate":
            yield f"{at} shares nothing between its languages, so that a prefix would change nothing"
