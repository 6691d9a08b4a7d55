"""Encoders of any make behind one function: models of this project, and those of sentence-transformers."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paraphrastic.errors import InputError
from paraphrastic.files import read_json
from paraphrastic.model import CONFIG, ENCODER, PARTS, Float32, RawTextEncoder, load_model
from paraphrastic.structure import encoder_name

# In every folder that sentence-transformers saved.
_MODULES = "modules.json"
_INSTALL = "pip install 'paraphrastic[sentence-transformers]'"


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder under its name.

    Attributes:
        label: its name in tables.
        dim: dimension of its vectors.
        digest: of what decides a sentence's vector.
        embed: turns n raw sentences in a language, whose code a model may need or not, into vectors, float32
            [n, dim].
    """

    label: str
    dim: int
    digest: str
    embed: Callable[[Sequence[str], str | None], Float32]


def encoder_of(model: RawTextEncoder, *, threads: int = 1) -> Encoder:
    """A model of this project as an encoder, called by the kind of its encoder and its own name."""

    def embed(sentences: Sequence[str], language: str | None) -> Float32:
        return model.embed_raw_text(sentences, language=language, threads=threads)

    return Encoder(f"{encoder_name(model.config)} {model.config['model']}", model.dim, model.digest, embed)


def open_encoder(model: str | Path, *, threads: int = 1) -> Encoder:
    """Open a model by its folder, or one of sentence-transformers by its name on the Hugging Face Hub.

    Args:
        model: a model folder of this project, a folder saved by sentence-transformers, or a name.
        threads: of the processor.

    Raises:
        InputError: a folder that is neither, a damaged model, a name that cannot be reached,
            sentence-transformers is needed and not installed.
    """
    folder = Path(model)
    if folder.is_dir():
        if _is_own(folder):
            return encoder_of(load_model(folder), threads=threads)
        if not (folder / _MODULES).is_file():
            raise InputError(
                f"{folder}: neither a model folder nor one of sentence-transformers: {_MODULES} is missing"
            )
    return _open_sentence_transformer(str(model), threads)


def _is_own(folder: Path) -> bool:
    """Whether this project made the model; such a folder may serve sentence-transformers as well."""
    if not (folder / CONFIG).is_file():
        return False
    config = read_json(folder / CONFIG)
    return isinstance(config, dict) and config.get("encoder") in (ENCODER, PARTS)


def _open_sentence_transformer(name: str, threads: int) -> Encoder:
    try:
        # Not at the top: an optional package, which takes seconds to import.
        import torch
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise InputError(f"{name}: needs sentence-transformers, which is not installed: {_INSTALL}") from None
    torch.set_num_threads(threads)
    try:
        transformer = SentenceTransformer(name)
    except Exception as error:
        # Of a damaged folder, each of the libraries below raises its own; some have no class but this one.
        cause = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{name}: sentence-transformers cannot load this model: {cause}") from error

    def embed(sentences: Sequence[str], _: str | None) -> Float32:
        vectors = transformer.encode(list(sentences), convert_to_numpy=True, show_progress_bar=False)
        return np.asarray(vectors, np.float32)

    dim = transformer.get_sentence_embedding_dimension() or embed(["a"], None).shape[1]
    return Encoder(name, dim, _digest_of(transformer), embed)


def _digest_of(transformer: Any) -> str:
    """SHA-256 of the parameters of all of a model's modules."""
    from torch import uint8

    digest = hashlib.sha256()
    for name, parameter in sorted(transformer.state_dict().items()):
        digest.update(name.encode())
        digest.update(parameter.detach().cpu().contiguous().reshape(-1).view(uint8).numpy().data)
    return digest.hexdigest()
