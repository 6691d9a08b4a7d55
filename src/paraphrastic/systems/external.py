"""Other people's encoders: sentence-transformers, model2vec, and vectors computed elsewhere."""

import copy
import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.text_files import read_sentences
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
        self.label, self._torch = name, torch
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

    def tokenize(self, sentences: Sequence[str], *, language: str | None = None) -> Any:
        """What the model reads, the first half of embedding, so that each half can be timed."""
        return self.model.preprocess(
            list(sentences), prompt=self.model.prompts.get(self.model.default_prompt_name)
        )

    def embed_tokens(self, tokens: Any) -> Float32:
        """The second half: vectors, [n, dim]."""
        with self._torch.inference_mode():
            moved = {
                key: value.to(self.model.device) if isinstance(value, self._torch.Tensor) else value
                for key, value in tokens.items()
            }
            return self.model(moved)["sentence_embedding"].float().cpu().numpy()


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
        # A copy of the model, for sentences that have already been tokenized.
        self._pooling = copy.copy(self.model)
        self._pooling.tokenize = lambda sentences: sentences

    def encode(self, sentences: Sequence[str], *, language: str | None = None) -> Vectors:
        """Vectors of sentences, [n, dim]."""
        if not sentences:
            return np.empty((0, self.dim), np.float32)
        return np.asarray(self.model.encode(list(sentences), use_multiprocessing=False), np.float32)

    def tokenize(self, sentences: Sequence[str], *, language: str | None = None) -> Any:
        """What the model reads, the first half of embedding, so that each half can be timed."""
        # The model itself truncates texts like this before it tokenizes them.
        longest = (
            None if self.model.max_length is None else self.model.max_length * self.model.median_token_length
        )
        return self.model.tokenize([sentence[:longest] for sentence in sentences])

    def embed_tokens(self, tokens: Any) -> Float32:
        """The second half: vectors, [n, dim]."""
        vectors = self._pooling.encode(tokens, batch_size=max(1, len(tokens)), use_multiprocessing=False)
        return np.asarray(vectors, np.float32)


class StoredVectors:
    """Vectors that were computed elsewhere.

    A sentence has one vector, whatever its language. The file must contain every sentence of a test set just
    as the test set spells it; embedding a sentence that is missing is an `InputError`.

    Args:
        sentences: text file in UTF-8, one sentence per line.
        vectors: NumPy file, [lines, dim] of floating-point numbers; row i is the vector of line i.

    Raises:
        InputError: a file is missing or damaged, or the files do not fit together.
    """

    def __init__(self, sentences: Path, vectors: Path) -> None:
        self.label, self._sentences = str(vectors), sentences
        lines = list(read_sentences(str(sentences)))
        try:
            self._matrix = np.load(vectors, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError, SyntaxError) as error:
            raise InputError(f"{vectors}: is not a NumPy file of numbers: {on_one_line(error)}") from None
        if (
            getattr(self._matrix, "ndim", 0) != 2
            or self._matrix.dtype.kind != "f"
            or len(self._matrix) != len(lines)
        ):
            raise InputError(
                f"{vectors}: is no matrix with a row for each of the {len(lines):,} lines of {sentences}"
            )
        self._rows = {line: row for row, line in reversed([*enumerate(lines)])}
        self.dim = int(self._matrix.shape[1])
        contents = (path.read_bytes() for path in (sentences, vectors))
        self.digest = hashlib.sha256(
            b"".join(hashlib.sha256(content).digest() for content in contents)
        ).hexdigest()

    def encode(self, sentences: Sequence[str], *, language: str | None = None) -> Vectors:
        """Vectors of sentences, [n, dim]."""
        if missing := [sentence for sentence in sentences if sentence not in self._rows]:
            count = f"{len(missing):,} of {len(sentences):,} sentences to embed are not in it"
            raise InputError(f"{self._sentences}: {count}, such as {missing[0]!r}")
        rows = np.array([self._rows[sentence] for sentence in sentences], np.int64)
        return np.asarray(self._matrix[rows], np.float32)


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
    to_str: Callable[[], str] | None = getattr(
        getattr(tokenizer, "backend_tokenizer", tokenizer), "to_str", None
    )
    digest.update((to_str() if to_str else repr(tokenizer)).encode())
    return digest.hexdigest()
