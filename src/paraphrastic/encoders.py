"""Encoders of any make behind one function: models of this project, and those of sentence-transformers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paraphrastic.errors import InputError
from paraphrastic.files import read_json
from paraphrastic.model import CONFIG, ENCODER, PARTS, Float32, load_model

# In every folder that sentence-transformers saved.
_MODULES = "modules.json"
_INSTALL = "pip install 'paraphrastic[sentence-transformers]'"


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder under its name.

    `embed` turns n raw sentences in a language, whose code a model may need or not, into vectors, float32
    [n, dim].
    """

    name: str
    embed: Callable[[Sequence[str], str | None], Float32]


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
            own = load_model(folder)
            return Encoder(
                str(model),
                lambda sentences, language: own.embed_raw_text(sentences, language=language, threads=threads),
            )
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

    return Encoder(name, embed)
