"""The architecture, the vocabularies and the engine that the completed definition of a model asks for."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from paraphrastic.model.architecture import OF_TRANSFORMERS, Architecture, Transformer

# Values that the kernels for averages know of settings that are otherwise for autograd.
_OF_KERNELS: Mapping[str, Any] = {
    "loss": "margin",
    "warmup": 0.0,
    "max_gradient_norm": None,
    "precision": "float32",
    "chunk_size": None,
    "gradient_checkpointing": False,
}


def architecture_of(definition: Mapping[str, Any]) -> Architecture:
    """The encoder of a model, from its completed definition."""
    encoder, vocabulary = definition["encoder"], definition["vocabulary"]
    if place := encoder.get("transformer"):
        own = {key: encoder[key] for key in OF_TRANSFORMERS}
        return Architecture(transformer=Transformer(place=place, **own))
    parts = {key: value for key, value in encoder.items() if key not in ("transformer", *OF_TRANSFORMERS)}
    architecture = Architecture.from_json({**parts, "vocabularies": vocabulary["languages"]})
    # Settings without effect are normalised, so that changing them does not cause new training.
    if not architecture.recurrent:
        architecture = replace(architecture, scramble=0.0)
    return replace(architecture, combine="concatenate") if len(architecture.parts) == 1 else architecture


def vocabularies(definition: Mapping[str, Any]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Unit and sides of each of a model's vocabularies, by name, in the order of units and languages.

    The first is called `sentencepiece`; the names of the others include the unit and the language. A
    Transformer has its own tokenizer, and none of these.
    """
    architecture = architecture_of(definition)
    if architecture.transformer:
        return {}
    sides: dict[str, tuple[str, ...]] = {"": ("source", "target")}
    if architecture.vocabularies != "shared":
        source, target = definition["languages"]
        sides = {f"-{source}": ("source",), f"-{target}": ("target",)}
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for unit, (suffix, of_unit) in product(architecture.units, sides.items()):
        found[f"sentencepiece-{unit}{suffix}" if found else "sentencepiece"] = (unit, of_unit)
    return found


def vocabulary_settings(definition: Mapping[str, Any], unit: str) -> dict[str, Any]:
    """Settings of a unit's vocabulary: the common ones, overridden by those for this unit."""
    section = definition["vocabulary"]
    others = ("units", "languages", "unit", "only_initial_vectors")
    common = {key: value for key, value in section.items() if key not in others}
    settings = {**common, **section["units"].get(unit, {})}
    settings["unknown"] = settings["unknown"] or ("shared" if unit == "trigram" else "bytes")
    # A setting without effect is normalised, so that changing it does not cause new training.
    return settings if unit == "subword" else {**settings, "character_coverage": 1.0}


def trains_fused(architecture: Architecture, training: Mapping[str, Any]) -> bool:
    """Whether the fused engine trains an encoder: an average, unless the settings need or name autograd."""
    able = architecture.averaged and not (training["initial_vectors_penalty"] or only_autograd(training))
    return able and training["engine"] != "autograd"


def only_autograd(training: Mapping[str, Any]) -> list[str]:
    """Names of the training settings whose values only the autograd engine knows."""
    return [name for name, value in _OF_KERNELS.items() if training.get(name, value) != value]
