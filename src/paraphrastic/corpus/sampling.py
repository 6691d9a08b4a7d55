"""A random sample of a stream whose length is not known, and samples as tables for reading."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraphrastic.base.files import atomic_output


class StreamSample:
    """Keeps the `size` rows with the smallest keys; with random keys, that is a random sample."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._bound = np.inf
        self._kept: list[tuple[float, dict[str, Any]]] = []

    def offer(
        self,
        keys: npt.NDArray[np.float64],
        block: pa.RecordBatch,
        rows: npt.NDArray[np.intp] | None = None,
    ) -> None:
        """Offer all rows of a block, or those numbered `rows`, each with its key in [0, 1)."""
        found = np.flatnonzero(keys < self._bound)
        found = found[np.argsort(keys[found], kind="stable")[: self._size]]
        chosen = block.take(pa.array(found if rows is None else rows[found]))
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
