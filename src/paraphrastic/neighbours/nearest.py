"""Exact nearest neighbours by cosine between two sets of vectors, in both directions.

All pairs of vectors are multiplied block by block in low precision, by numpy's BLAS or by torch. A `Bound`
says how far a product can be below the cosine, so exact cosines are computed only for the few pairs that can
be among the k nearest. The result does not depend on the blocks, the threads or the processor.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paraphrastic.base.arrays import Float64, Int64
from paraphrastic.base.threads import Workers
from paraphrastic.neighbours.bounds import Bound, whole_bound
from paraphrastic.neighbours.kernels import NOTHING, Entries, merge, offer_block, offer_rows
from paraphrastic.neighbours.parts import multiplying_workers, share, slices
from paraphrastic.neighbours.vectors import require_finite

# Limits of the block of rows that a thread normalizes: numbers, which then stay in its cache, and rows.
_PART_NUMBERS, PART_ROWS = 1 << 18, 1024
# Number of columns that such a block is multiplied with at once.
PART_COLUMNS = 512
# Number of columns that `nearest_neighbours` compares with all rows before it takes the next ones.
PANEL = 16 * PART_COLUMNS
# Up to this many columns are compared with rows directly, which is faster than multiplying blocks.
FEW = 2
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
        """Return k places for each of n vectors, with no neighbour found yet."""
        return cls(np.full((n, k), NOTHING, np.int64), np.full((n, k), -np.inf))

    def __getitem__(self, rows: slice) -> "Neighbours":
        return Neighbours(self.indices[rows], self.cosines[rows])

    def add(self, other: "Neighbours") -> None:
        """Merge in the neighbours that were found elsewhere for the same vectors."""
        merge(self.cosines, self.indices, other.cosines, other.indices)


class Columns:
    """Vectors, the columns, to which blocks of rows are offered; each thread collects its own neighbours.

    Args:
        entries: [n, dim].
        k: number of neighbours per column.
        bound: rules out pairs.
        workers: the threads.
        lowest: lower cosines are not offered.
        zeros: whether zero vectors count as near others, with cosine 0.
        first: index of the first column.
    """

    def __init__(
        self, entries: Entries, k: int, bound: Bound, workers: Workers, *,
        lowest: float = -np.inf, zeros: bool = True, first: int = 0, name: str = "queries",
    ) -> None:  # fmt: skip
        self._entries, self._bound, self._workers = entries, bound, workers
        self._lowest, self._zeros, self._first = lowest, zeros, first
        self._size = max(1, min(PART_ROWS, _PART_NUMBERS // max(1, entries.shape[1])))
        self._norms = np.empty(len(entries))
        self._vectors = bound.empty(len(entries))
        self._own = [Neighbours.nothing(len(entries), k) for _ in range(workers.size)]
        self._products = np.empty((workers.size, self._size * min(PART_COLUMNS, len(entries))), np.float32)
        self._units = np.empty((workers.size, self._size, entries.shape[1]), np.float32)

        def normalize(part: slice, index: int) -> None:
            self._vectors[part] = bound.vectors(entries[part], self._norms[part], self._units[index])

        share(workers, slices(len(entries), self._size), normalize)
        require_finite(self._norms, name)
        bars = np.full(len(entries), lowest - bound.slack, np.float32)
        if not zeros:
            bars[self._norms == 0] = np.inf
        self._bars = [bars.copy() for _ in range(workers.size)]

    def compare(
        self, rows: Entries, first: int, by_row: Neighbours | None, name: str,
        tell: Callable[[float], None] | None = None,
    ) -> None:  # fmt: skip
        """Offer the rows [m, dim] to the columns and, if wanted, the columns to the rows.

        Args:
            rows: entries of the rows.
            first: index of the first row.
            by_row: neighbours of the rows so far, updated in place; None if rows get no offers.
            name: what error messages call the rows.
            tell: is called now and then with the share of the work that is done.

        Raises:
            InputError: a row is not finite.
        """
        size = max(1, min(self._size, -(-len(rows) // self._workers.size)))

        def work(part: slice, index: int) -> None:
            norms, by_column = np.empty(part.stop - part.start), self._own[index]
            if by_row is None and len(self._entries) <= FEW:
                offer_rows(
                    rows[part], norms, first + part.start, self._bound.slack, self._lowest, self._zeros,
                    self._vectors, self._entries, self._norms, by_column.cosines, by_column.indices,
                )  # fmt: skip
                require_finite(norms, name, first + part.start)
                return
            vectors = self._bound.vectors(rows[part], norms, self._units[index])
            require_finite(norms, name, first + part.start)
            bars = self._bars[index]
            nearest = by_row[part] if by_row else by_column[:0]
            for columns in slices(len(self._entries), PART_COLUMNS):
                count = columns.stop - columns.start
                products = self._products[index][: len(norms) * count].reshape(len(norms), count)
                self._bound.multiply(vectors, self._vectors[columns], products)
                offer_block(
                    products, self._bound.slack, self._lowest, self._zeros,
                    rows[part], norms, first + part.start, nearest.cosines, nearest.indices,
                    self._entries[columns], self._norms[columns], self._first + columns.start,
                    by_column.cosines[columns], by_column.indices[columns], bars[columns],
                )  # fmt: skip
            if index == 0 and tell:
                tell(part.stop / len(rows))

        share(self._workers, slices(len(rows), size), work)

    def neighbours(self) -> Neighbours:
        """Return the columns' neighbours among all rows so far."""
        for other in self._own[1:]:
            self._own[0].add(other)
        return self._own[0]


def nearest_neighbours(
    x: Entries,
    y: Entries,
    k: int,
    *,
    threads: int = 1,
    bound: Bound | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Neighbours, Neighbours]:
    """Find by cosine the k nearest neighbours in `y` of each vector in `x`, and those in `x` of each in `y`.

    If a set has fewer than k vectors, all of them are neighbours.

    Args:
        x: n finite vectors, at least one, float32 or int16 [n, dim].
        y: m finite vectors, at least one, [m, dim].
        k: number of neighbours.
        threads: number of threads; it does not change the result.
        bound: rules out pairs; it does not change the result. If None, the number of pairs decides.
        progress: is called now and then with the share of the work that is done.
    """
    by_row = Neighbours.nothing(len(x), min(k, len(y)))
    by_column = Neighbours.nothing(len(y), min(k, len(x)))
    bound = bound or whole_bound(x.shape[1], float(len(x)) * len(y))
    with multiplying_workers(threads) as workers:
        for panel in slices(len(y), PANEL):

            def tell(share: float, panel: slice = panel) -> None:
                if progress:
                    progress((panel.start + share * (panel.stop - panel.start)) / len(y))

            columns = Columns(
                y[panel], by_column.indices.shape[1], bound, workers, first=panel.start, name="vectors"
            )
            columns.compare(x, 0, by_row, "vectors", tell)
            by_column[panel].add(columns.neighbours())
            # Only the first thread reports, and another one may have done the last block.
            tell(1.0)
    return by_row, by_column
