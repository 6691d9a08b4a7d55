"""Word vectors from text files, from which the embeddings of words begin."""

from collections.abc import Iterator, Set
from itertools import chain
from pathlib import Path

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.registry.archive import open_stream

# Most bytes that a file may have, unpacked.
_MAX_BYTES = 1 << 36


def read_word_vectors(path: str | Path, only: Set[str]) -> tuple[dict[str, int], Float32]:
    """Read the vectors of some words; if a word has several lines, the first one counts.

    Args:
        path: a text file: plain, compressed, or the largest one in a zip archive. Its lines are
            `word v1 … vn`, after an optional first line with the number of words and the dimension.
        only: the words that are wanted.

    Returns:
        The row of each word that was found, and the vectors, float32 [words, dim].

    Raises:
        InputError: `PATH:LINE: cause` if a line of a wanted word has too few values, or one that is no finite
            number.
    """
    rows: dict[str, int] = {}
    vectors, dim = [], 0
    for number, word, values, dim in _lines(path):
        if word in only and word not in rows:
            try:
                vectors.append(np.array(values.split(), np.float32))
                if len(vectors[-1]) != dim or not np.isfinite(vectors[-1]).all():
                    raise ValueError
            except ValueError:
                raise InputError(f"{path}:{number}: not a word and its vector") from None
            rows[word] = len(rows)
    return rows, np.array(vectors, np.float32).reshape(len(rows), dim)


def words_with_vectors(path: str | Path) -> Iterator[str]:
    """The words of a file of word vectors, in its order."""
    return (word for _, word, _, _ in _lines(path))


def _lines(path: str | Path) -> Iterator[tuple[int, str, bytes, int]]:
    """Number, word, values and dimension of each line."""
    with open_stream(path, max_bytes=_MAX_BYTES, in_zip=True) as stream:
        lines = enumerate(stream, start=1)
        first = next(lines, (1, b""))
        head = first[1].split()
        has_header = len(head) == 2 and all(cell.isdigit() for cell in head)
        dim = int(head[1]) if has_header else len(head) - 1
        if dim < 1:
            raise InputError(f"{path}:1: not a word and its vector")
        for number, line in lines if has_header else chain([first], lines):
            # Words in GloVe's largest files can contain spaces, so the values are the last cells.
            word, *_ = line.rstrip().rsplit(b" ", dim)
            yield number, word.decode("utf-8", "replace"), line.rstrip()[len(word) :], dim
