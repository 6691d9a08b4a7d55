"""Random samples of a stream whose length is not known, and samples as tables for reading."""

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraphrastic.base.files import atomic_output

# Rows of a kind that a person is shown.
EXAMPLES = 20
Kind = TypeVar("Kind", bound=Hashable)


class StreamSample:
    """Keeps the `size` rows with the smallest keys; with random keys, that is a random sample."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._bound = np.inf
        self._kept: list[tuple[float, dict[str, Any]]] = []

    def offer(self, keys: npt.NDArray[np.float64], block: pa.RecordBatch, rows: npt.NDArray[np.intp]) -> None:
        """Offer the rows of a block that are numbered `rows`, each with its key in [0, 1)."""
        found = np.flatnonzero(keys < self._bound)
        found = found[np.argsort(keys[found], kind="stable")[: self._size]]
        chosen = block.take(pa.array(rows[found]))
        self._kept.extend(zip(keys[found].tolist(), chosen.to_pylist(), strict=True))
        if len(self._kept) >= 2 * self._size:
            self._shrink()

    def rows(self) -> list[dict[str, Any]]:
        """The sample, in the random order of its keys."""
        self._shrink()
        return [row for _, row in self._kept]

    def _shrink(self) -> None:
        self._kept.sort(key=lambda entry: entry[0])
        del self._kept[self._size :]
        if len(self._kept) == self._size:
            self._bound = self._kept[-1][0]


class Samples(Generic[Kind]):
    """The numbers of a stream's rows by kind, and a random sample of `size` rows (20) of each kind.

    Each row has one key, whatever its kind: the samples do not depend on how the rows came in blocks.
    """

    def __init__(self, kinds: Sequence[Kind], seed: int, *, size: int | None = None) -> None:
        self.read = 0
        self.counts = dict.fromkeys(kinds, 0)
        self._samples = {kind: StreamSample(size or EXAMPLES) for kind in kinds}
        self._random = np.random.default_rng(seed)

    def add(self, block: pa.RecordBatch, kinds: npt.NDArray[np.intp]) -> None:
        """Add a block; `kinds` has the number of each row's kind, or another number where it has none."""
        self.read += block.num_rows
        keys = self._random.random(block.num_rows)
        for number, (kind, sample) in enumerate(self._samples.items()):
            rows = np.flatnonzero(kinds == number)
            self.counts[kind] += len(rows)
            sample.offer(keys[rows], block, rows)

    def rows(self, *columns: str) -> list[tuple[Kind, dict[str, Any]]]:
        """The kind and the cells of each row of the samples: by kind, then by columns, or at random."""
        return [
            (kind, row)
            for kind, sample in self._samples.items()
            for row in sorted(sample.rows(), key=lambda row: [row[name] for name in columns])
        ]


def write_examples(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows for a person to read: tab-separated, with a header, white space in cells collapsed.

    Numbers that are no integers have four decimals, and a cell that is None is empty.
    """
    with atomic_output(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines("\t".join(map(_cell, row)) + "\n" for row in (columns, *rows))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else " ".join(str(value).split())
