"""Model folders: weights, sentencepiece model and configuration, with the digests of both."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy
import sentencepiece

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, read_json, sha256, write_json
from paraphrastic.model.averaged import (
    CONFIG,
    ENCODER,
    PARTS,
    SENTENCEPIECE,
    WEIGHTS,
    AverageEncoder,
    SentenceEncoder,
)

# What model2vec reads of an average's `config.json`: vectors are not normalized, and texts are not cut short.
_MODEL2VEC = {"normalize": False, "max_length": None}


def save_model(model: SentenceEncoder, folder: Path, *, config: Mapping[str, Any]) -> None:
    """Write a model folder: weights, sentencepiece model, and `config.json` with the digests of both."""
    with atomic_output(folder / WEIGHTS) as temporary:
        safetensors.numpy.save_file(model.tensors(), temporary)
    with atomic_output(folder / SENTENCEPIECE) as temporary:
        temporary.write_bytes(model.processor.serialized_model_proto())
    digests = {name: sha256(folder / name) for name in (WEIGHTS, SENTENCEPIECE)}
    about: dict[str, Any] = {"encoder": model.kind, "dimension": model.dim}
    if model.kind == ENCODER:
        about |= _MODEL2VEC
    write_json(folder / CONFIG, {**about, **config, **about, "sha256": digests})


def open_folder(path: str | Path) -> SentenceEncoder:
    """Open the model in a folder, such as `results/models/en`.

    Raises:
        InputError: a file of the folder is missing or damaged, or it holds another kind of model.
    """
    folder = Path(path)
    if folder.is_file():
        raise InputError(f"{folder}: is a file, not a model folder; a checkpoint is opened with its sp_model")
    for name in (CONFIG, WEIGHTS, SENTENCEPIECE):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: not a model folder: {name} is missing")
    config = _read_config(folder / CONFIG)
    for name, expected in config["sha256"].items():
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: is missing; {CONFIG} has its digest")
        if (actual := sha256(folder / name)) != expected:
            raise InputError(f"{folder / name}: damaged: sha256 is {actual}, {CONFIG} says {expected}")
    try:
        tensors = safetensors.numpy.load_file(folder / WEIGHTS)
        processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / SENTENCEPIECE))
    except (safetensors.SafetensorError, RuntimeError, OSError) as error:
        raise InputError(f"{folder}: cannot be read: {' '.join(str(error).split())}") from None
    try:
        if config["encoder"] == ENCODER:
            embeddings, known, unknown = (tensors[name] for name in ("embeddings", "known", "unknown"))
            weights = tensors.get("weights")
            model: SentenceEncoder
            model = AverageEncoder(embeddings, known, unknown, processor, config, weights)
        else:
            # Not at the top: averages of one table need none of it.
            from paraphrastic.model.composite import CompositeEncoder

            model = CompositeEncoder.from_tensors(tensors, processor, config)
        if config.get("dimension", model.dim) != model.dim:
            raise InputError(f"{CONFIG} says {config['dimension']} dimensions, {WEIGHTS} has {model.dim}")
        _check_finite(tensors)
        return model
    except KeyError as error:
        raise InputError(f"{folder}: {WEIGHTS} and {CONFIG} do not agree: {error} is missing") from None
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None


def _check_finite(tensors: Mapping[str, npt.NDArray[Any]]) -> None:
    """Refuse entries that are not finite, which would be in every vector without a word."""
    for name, array in tensors.items():
        # A sum takes no memory, and is not finite either.
        suspect = array.dtype.kind == "f" and not np.isfinite(array.sum(dtype=np.float32))
        if suspect and not np.isfinite(array).all():
            raise InputError(f"{WEIGHTS}: {name} has numbers that are not finite")


def _read_config(path: Path) -> dict[str, Any]:
    """The content of `config.json`, with what earlier versions did not write."""
    config = read_json(path)
    if not isinstance(config, dict) or config.get("encoder") not in (ENCODER, PARTS):
        raise InputError(f"{path}: does not describe a model of the kind {ENCODER} or {PARTS}")
    config = {"unit": "subword", "segmentation": {}, "folding": {}, **config}
    if "structure" in config:
        config["architecture"] = config.pop("structure")
    kinds = {
        "model": str,
        "lowercase": bool,
        "unit": str,
        "segmentation": dict,
        "folding": dict,
        "sha256": dict,
    }
    for key, kind in kinds.items():
        if not isinstance(config.get(key), kind):
            found = f"is {config[key]!r}" if key in config else "is missing"
            raise InputError(f"{path}: {key} {found}; a {kind.__name__} is needed")
    if config["folding"]:
        from paraphrastic.base.text import folding_faults

        for fault in folding_faults(config["folding"]):
            raise InputError(f"{path}: folding: {fault}")
    if missing := {WEIGHTS, SENTENCEPIECE} - set(config["sha256"]):
        raise InputError(f"{path}: sha256 is without {' and '.join(sorted(missing))}")
    return config
