"""Exact nearest neighbours by cosine between two sets of vectors, in both directions.

All pairs of vectors are multiplied block by block in single precision. A `Bound` says how far a product can
be below the cosine, so exact cosines are computed only for the few pairs that can be among the k nearest. The
result does not depend on the blocks, the threads or the processor.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paraphrastic.base.arrays import Float32, Float64, Int64
from paraphrastic.neighbours.bounds import Bound
from paraphrastic.neighbours.kernels import NOTHING, merge, update_top_k
from paraphrastic.neighbours.parts import Workers, multiply, multiplying_workers, slices
from paraphrastic.neighbours.vectors import require_finite

# Limits of the block of rows that a thread normalizes: numbers, which then stay in its cache, and rows.
_PART_NUMBERS, PART_ROWS = 1 << 18, 1024
# Number of columns that such a block is multiplied with at once.
PART_COLUMNS = 512
# Number of columns that `nearest_neighbours` compares with all rows before it takes the next ones.
PANEL = 16 * PART_COLUMNS
# Rounding error of the cosine of equal vectors, with room to spare.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The k nearest neighbours of n vectors, nearest first; among equals, lower indices come first.

    Attributes:
        indices: int64 [n, k]; `NOTHING` if there are fewer neighbours.
        cosines: [n, k].
    """

    indices: Int64
    cosines: Float64

    @classmethod
    def nothing(cls, n: int, k: int) -> "Neighbours":
        """Top-k lists of n vectors, with no neighbour found yet."""
        return cls(np.full((n, k), NOTHING, np.int64), np.full((n, k), -np.inf))

    def __getitem__(self, rows: slice) -> "Neighbours":
        return Neighbours(self.indices[rows], self.cosines[rows])

    def add(self, other: "Neighbours") -> None:
        """Merge in the neighbours that were found elsewhere for the same vectors."""
        merge(self.cosines, self.indices, other.cosines, other.indices)


class TopK:
    """The k nearest rows of each query; rows come in blocks, which threads share.

    Args:
        entries: the queries, [n, dim], of which the first one has the index `first`.
        k: number of neighbours per query.
        workers: the threads.
        lowest: lower cosines do not count.
        zeros: whether zero vectors count as near others, with cosine 0.
    """

    def __init__(
        self, entries: Float32, k: int, workers: Workers, *,
        lowest: float = -np.inf, zeros: bool = True, first: int = 0, name: str = "queries",
    ) -> None:  # fmt: skip
        self._entries, self._workers, self._bound = entries, workers, Bound(entries.shape[1])
        self._lowest, self._zeros, self._first = lowest, zeros, first
        self._size = max(1, min(PART_ROWS, _PART_NUMBERS // max(1, entries.shape[1])))
        self._norms, self._units = np.empty(len(entries)), np.empty(entries.shape, np.float32)
        self._own = [Neighbours.nothing(len(entries), k) for _ in range(workers.size)]
        self._products = np.empty((workers.size, self._size * min(PART_COLUMNS, len(entries))), np.float32)

        def normalize(part: slice, index: int) -> None:
            self._units[part], self._norms[part] = self._bound.vectors(entries[part])

        workers.share(slices(len(entries), self._size), normalize)
        require_finite(self._norms, name)
        bars = np.full(len(entries), lowest - self._bound.slack, np.float32)
        if not zeros:
            bars[self._norms == 0] = np.inf
        self._bars = [bars.copy() for _ in range(workers.size)]

    def add_rows(self, rows: Float32, first: int, by_row: Neighbours | None, name: str) -> None:
        """Look for neighbours among more rows.

        Args:
            rows: [m, dim].
            first: index of the first row.
            by_row: the rows' own neighbours among the queries, updated in place; None if not wanted.
            name: what error messages call the rows.

        Raises:
            InputError: a row is not finite.
        """
        size = max(1, min(self._size, -(-len(rows) // self._workers.size)))

        def work(part: slice, index: int) -> None:
            units, norms = self._bound.vectors(rows[part])
            require_finite(norms, name, first + part.start)
            by_column, bars = self._own[index], self._bars[index]
            nearest = by_row[part] if by_row else by_column[:0]
            for columns in slices(len(self._entries), PART_COLUMNS):
                count = columns.stop - columns.start
                products = self._products[index][: len(norms) * count].reshape(len(norms), count)
                multiply(units, self._units[columns].T, products)
                update_top_k(
                    products, self._bound.slack, self._lowest, self._zeros,
                    rows[part], norms, first + part.start, nearest.cosines, nearest.indices,
                    self._entries[columns], self._norms[columns], self._first + columns.start,
                    by_column.cosines[columns], by_column.indices[columns], bars[columns],
                )  # fmt: skip

        self._workers.share(slices(len(rows), size), work)

    def neighbours(self) -> Neighbours:
        """The queries' neighbours among all rows so far."""
        for other in self._own[1:]:
            self._own[0].add(other)
        return self._own[0]


def nearest_neighbours(
    x: Float32, y: Float32, k: int, *, threads: int = 1, progress: Callable[[float], None] | None = None
) -> tuple[Neighbours, Neighbours]:
    """Find by cosine the k nearest neighbours in `y` of each vector in `x`, and those in `x` of each in `y`.

    If a set has fewer than k vectors, all of them are neighbours. The result does not depend on the threads.

    Args:
        x: n finite vectors, at least one, [n, dim].
        y: m finite vectors, at least one, [m, dim].
        k: number of neighbours.
        threads: number of threads.
        progress: is called now and then with the share of the work that is done.
    """
    by_row = Neighbours.nothing(len(x), min(k, len(y)))
    by_column = Neighbours.nothing(len(y), min(k, len(x)))
    with multiplying_workers(threads) as workers:
        for panel in slices(len(y), PANEL):
            top_k = TopK(y[panel], by_column.indices.shape[1], workers, first=panel.start, name="vectors")
            top_k.add_rows(x, 0, by_row, "vectors")
            by_column[panel].add(top_k.neighbours())
            if progress:
                progress(panel.stop / len(y))
    return by_row, by_column
