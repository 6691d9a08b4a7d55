"""Other people's encoders: sentence-transformers and model2vec."""

import hashlib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from paraphrastic.model.encoder import Vectors
from paraphrastic.model.hub import load_from_hub, not_installed


class SentenceTransformerEncoder:
    """A sentence-transformers model, by its folder or its name on the Hugging Face Hub.

    Sentences are embedded with the model's default prompt, if it has one. Without a `device`, the model runs
    on a GPU if torch sees one.

    Raises:
        InputError: the folder is damaged, the name cannot be reached, or the package is not installed.
    """

    def __init__(self, name: str, *, threads: int = 1, device: str | None = None) -> None:
        try:
            # Imported late: the package is optional and takes seconds to import.
            import torch
            from sentence_transformers import SentenceTransformer
            from transformers.utils.logging import disable_progress_bar
        except ImportError:
            raise not_installed(name, "sentence-transformers") from None
        disable_progress_bar()
        torch.set_num_threads(threads)
        _set_tokenizer_threads(threads)
        self.label = name
        self.model = load_from_hub(
            name, "sentence-transformers", lambda place: SentenceTransformer(place, device=device)
        )
        self.model.eval()
        self.dim = int(self.model.get_embedding_dimension() or self.model.encode(["a"]).shape[1])
        self.digest = _digest_of(self.model.state_dict(), repr(self.model), self.model.tokenizer)

    def encode(self, sentences: Sequence[str], *, language: str | None = None) -> Vectors:
        """Vectors of sentences, [n, dim]."""
        if not sentences:
            return np.empty((0, self.dim), np.float32)
        vectors = self.model.encode(list(sentences), convert_to_numpy=True, show_progress_bar=False)
        return np.asarray(vectors, np.float32)


class StaticModelEncoder:
    """A model2vec model, by its folder or its name on the Hugging Face Hub.

    Raises:
        InputError: the folder is damaged, the name cannot be reached, or model2vec is not installed.
    """

    def __init__(self, name: str, *, threads: int = 1) -> None:
        try:
            # Imported late: the package is optional.
            from model2vec import StaticModel
        except ImportError:
            raise not_installed(name, "model2vec") from None
        _set_tokenizer_threads(threads)
        self.label = name
        self.model = load_from_hub(name, "model2vec", StaticModel.from_pretrained)
        self.dim = int(self.model.dim)
        tensors = {"embedding": self.model.embedding}
        self.digest = _digest_of(tensors, repr(self.model.config), self.model.tokenizer)

    def encode(self, sentences: Sequence[str], *, language: str | None = None) -> Vectors:
        """Vectors of sentences, [n, dim]."""
        if not sentences:
            return np.empty((0, self.dim), np.float32)
        return np.asarray(self.model.encode(list(sentences), use_multiprocessing=False), np.float32)


def _set_tokenizer_threads(threads: int) -> None:
    """Set the threads of Hugging Face's tokenizers, which read them only from the environment."""
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
    os.environ.setdefault("RAYON_NUM_THREADS", str(threads))


def _digest_of(tensors: Any, settings: str, tokenizer: Any) -> str:
    """SHA-256 of a model's numbers, its settings, and its tokenizer."""
    digest = hashlib.sha256(settings.encode())
    for name, tensor in sorted(tensors.items()):
        numbers: Any = tensor.detach().cpu().float().numpy() if hasattr(tensor, "detach") else tensor
        digest.update(name.encode() + np.ascontiguousarray(numbers).tobytes())
    to_str: Any = getattr(getattr(tokenizer, "backend_tokenizer", tokenizer), "to_str", None)
    digest.update((to_str() if to_str else repr(tokenizer)).encode())
    return digest.hexdigest()
