"""The files of a model folder: weights, sentencepiece model, and configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt
import safetensors.numpy

from paraphrastic.base.files import atomic_output, write_json

Tensors = Mapping[str, npt.NDArray[Any]]

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

# Entries of an average's `config.json` for model2vec: it should neither normalize vectors nor truncate texts.
_MODEL2VEC: dict[str, Any] = {"normalize": False, "max_length": None}


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
    tensors: Tensors
    sentencepiece: bytes
    config: Mapping[str, Any]

    def write(self, folder: Path) -> None:
        """Write the folder; each file is either complete or not there."""
        with atomic_output(folder / WEIGHTS) as temporary:
            safetensors.numpy.save_file(dict(self.tensors), temporary)
        with atomic_output(folder / SENTENCEPIECE) as temporary:
            temporary.write_bytes(self.sentencepiece)
        about: dict[str, Any] = {"encoder": self.kind, "dimension": self.dimension}
        if self.kind == AVERAGE:
            about |= _MODEL2VEC
        write_json(folder / CONFIG, {**about, **self.config, **about})


def tensor_name(name: str, language: str | None) -> str:
    """Name of a tensor, which ends with the language if the tensor belongs to one."""
    return f"{name}.{language}" if language else name
