"""The files of a model folder: weights, sentencepiece model, and configuration with the digests of both."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt
import safetensors.numpy

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, sha256, write_json

WEIGHTS = "model.safetensors"
SENTENCEPIECE = "sentencepiece.model"
CONFIG = "config.json"
# Files that other libraries need besides these.
TOKENIZER, MODULES = "tokenizer.json", "modules.json"
# The description of the model for people.
CARD = "README.md"
# Kinds of encoders, as `config.json` names them: a single average, and the models of `model.composite` and of
# `model.transformer`.
AVERAGE = "averaged_subwords"
COMPOSITE = "parts"
TRANSFORMER = "transformer"

# The largest entry of a tensor; those of models are near 1.
_LARGEST = 1e15
# Entries of an average's `config.json` for model2vec: it should neither normalize vectors nor truncate texts.
_MODEL2VEC = {"normalize": False, "max_length": None}


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The content of a model folder, which training can write without the code that embeds sentences.

    Attributes:
        kind: kind of the encoder, `AVERAGE` or `COMPOSITE`.
        dimension: dimension of the sentence vectors.
        tensors: the content of `model.safetensors`, as `AverageEncoder` or `CompositeEncoder` takes it.
        sentencepiece: the serialized sentencepiece model, or the first one if there are several.
        config: the other entries of `config.json`.
    """

    kind: str
    dimension: int
    tensors: Mapping[str, npt.NDArray[Any]]
    sentencepiece: bytes
    config: Mapping[str, Any]

    def write(self, folder: Path) -> None:
        """Write the folder; each file is either complete or not there."""
        with atomic_output(folder / WEIGHTS) as temporary:
            safetensors.numpy.save_file(dict(self.tensors), temporary)
        with atomic_output(folder / SENTENCEPIECE) as temporary:
            temporary.write_bytes(self.sentencepiece)
        digests = {name: sha256(folder / name) for name in (WEIGHTS, SENTENCEPIECE)}
        about: dict[str, Any] = {"encoder": self.kind, "dimension": self.dimension}
        if self.kind == AVERAGE:
            about |= _MODEL2VEC
        write_json(folder / CONFIG, {**about, **self.config, **about, "sha256": digests})


def require_numbers(array: npt.NDArray[Any], name: str) -> None:
    """Refuse entries that would silently spoil vectors: not finite, or with squares beyond float32."""
    if array.dtype.kind != "f" or not array.size:
        return
    # The least and the largest entry need no extra memory, and are not numbers if an entry is not.
    if not -_LARGEST < float(array.min()) <= float(array.max()) < _LARGEST:
        raise InputError(f"{name} has numbers that are not finite or above {_LARGEST:g}")


def tensor_name(name: str, language: str | None) -> str:
    """Name of a tensor, which ends with the language if the tensor belongs to one."""
    return f"{name}.{language}" if language else name
