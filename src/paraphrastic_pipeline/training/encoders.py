"""Encoders of a configuration: models, other libraries' encoders, and vectors from elsewhere."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.text_files import read_sentences
from paraphrastic.model.encoder import Encoder, Vectors
from paraphrastic.systems.open import open_encoder


def open_system(
    model: str | Path | Mapping[str, Any], *, threads: int = 1, device: str | None = None
) -> Encoder:
    """Open an encoder as `open_encoder` does, or the entry `vectors` of a configuration.

    Raises:
        InputError: see `open_encoder` and `StoredVectors`.
    """
    if not isinstance(model, Mapping) or "vectors" not in model:
        return open_encoder(model, threads=threads, device=device)
    stored = StoredVectors(Path(model["vectors"]["sentences"]), Path(model["vectors"]["vectors"]))
    stored.label = model["label"]
    return stored


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
