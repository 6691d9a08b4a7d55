"""Word vectors, and the paraphrase score of a sentence pair that is computed from them."""

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.base.numbers import read_number
from paraphrastic_pipeline.corpus.tokens import tokenize
from paraphrastic_pipeline.registry.archive import open_largest

_BLOCK_LINES = 10_000
# Most bytes that a file may have, unpacked.
_MAX_BYTES = 1 << 36
_LARGEST = float(np.finfo(np.float32).max)


class WordVectors:
    """Vectors of words from a text file: plain, compressed, or the largest one in a zip archive.

    Lines are `word v1 … vn`, after an optional first line with the number of words and the dimension. If a
    word has several lines, the first one counts.

    Args:
        path: the file.
        only: words to keep; None keeps all. For other words, only the number of values is checked.

    Attributes:
        words: row of each word in `vectors`.
        vectors: float32 [words, dim].

    Raises:
        InputError: `PATH:LINE: cause` if a line has another number of values than the first or a value that
            is not a finite number, or the file has no words.
    """

    def __init__(self, path: str | Path, *, only: Set[str] | None = None) -> None:
        self.words: dict[str, int] = {}
        with _opened(path) as (dim, lines):
            blocks = list(self._read(path, lines, dim, only))
        if not blocks:
            raise InputError(f"{path}: contains no word vectors")
        self.vectors = np.concatenate(blocks)

    def _read(
        self, path: str | Path, lines: Iterator[tuple[int, bytes]], dim: int, only: Set[str] | None
    ) -> Iterator[Float32]:
        """Yield blocks of vectors, in the order in which their words are added to `self.words`."""
        while block := list(islice(lines, _BLOCK_LINES)):
            values = []
            for number, line in block:
                # Words in GloVe's largest files can contain spaces, so the values are the last cells.
                cells = line.rstrip().rsplit(b" ", dim)
                if len(cells) != dim + 1:
                    raise InputError(f"{path}:{number}: {len(cells) - 1} values, expected {dim}")
                try:
                    word = cells[0].decode("utf-8")
                except UnicodeDecodeError:
                    raise InputError(f"{path}:{number}: the word is not UTF-8") from None
                if word not in self.words and (only is None or word in only):
                    self.words[word] = len(self.words)
                    values.append((number, cells[1:]))
            yield _parse(path, values, dim)

    def paraphrase_score(
        self, sources: pa.Array | Sequence[str], targets: pa.Array | Sequence[str]
    ) -> Float32:
        """Cosine of the two sentences' averaged word vectors: float32 [pairs] in [-1, 1].

        Words are split by `tokens.tokenize`. The score is NaN if a side has no known word, or if its word
        vectors add up to zero, because there is no angle to measure.
        """
        one, other = self._unit_sums(sources), self._unit_sums(targets)
        return np.clip(np.einsum("nd,nd->n", one, other), -1, 1)

    def _unit_sums(self, texts: pa.Array | Sequence[str]) -> Float32:
        """Sums of the texts' word vectors, scaled to length one, or NaN: float32 [texts, dim]."""
        tokens = tokenize(texts)
        rows = np.array([self.words.get(word, -1) for word in tokens.words], np.int64)
        vectors = np.zeros((len(rows), self.vectors.shape[1]), np.float32)
        vectors[rows >= 0] = self.vectors[rows[rows >= 0]]
        ones = np.ones(len(tokens.ids), np.float32)
        counts = csr_matrix((ones, tokens.ids, tokens.offsets), shape=(len(tokens.offsets) - 1, len(rows)))
        sums = counts @ vectors
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        norms[norms == 0] = np.nan
        unit: Float32 = sums / norms
        return unit


def words_with_vectors(path: str | Path) -> Iterator[str]:
    """The words of a file of word vectors, in its order; `WordVectors` reads the vectors, and checks them."""
    with _opened(path) as (dim, lines):
        for _, line in lines:
            # Words in GloVe's largest files can contain spaces, so the values are the last cells.
            yield line.rstrip().rsplit(b" ", dim)[0].decode("utf-8", "replace")


@contextmanager
def _opened(path: str | Path) -> Iterator[tuple[int, Iterator[tuple[int, bytes]]]]:
    """Open a file of word vectors: its dimension, and its numbered lines without the header."""
    with open_largest(path, max_bytes=_MAX_BYTES) as stream:
        lines = enumerate(stream, start=1)
        first = next(lines, (1, b""))
        head = first[1].split()
        has_header = len(head) == 2 and all(cell.isdigit() for cell in head)
        dim = int(head[1]) if has_header else len(head) - 1
        if dim < 1:
            raise InputError(f"{path}:1: not a word and its vector")
        yield dim, lines if has_header else chain([first], lines)


def _parse(path: str | Path, values: list[tuple[int, list[bytes]]], dim: int) -> Float32:
    if not values:
        return np.empty((0, dim), np.float32)
    try:
        text = b" ".join(cell for _, cells in values for cell in cells).decode("ascii")
        parsed = np.fromstring(text, np.float32, sep=" ").reshape(len(values), dim)
    except ValueError:
        parsed = np.full((len(values), dim), np.nan, np.float32)
    if not np.isfinite(parsed).all():
        for number, cells in values:
            for cell in cells:
                text = cell.decode(errors="replace")
                try:
                    value = read_number(text)
                except ValueError as error:
                    raise InputError(f"{path}:{number}: {error}") from None
                if abs(value) > _LARGEST:
                    raise InputError(f"{path}:{number}: {text!r} is too large")
    return parsed
