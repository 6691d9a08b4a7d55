"""Exact nearest neighbours by cosine: of two sets of vectors, in both directions.

All pairs of vectors are multiplied block by block in low precision, by numpy's BLAS or by torch. A product is
no further below the cosine than its `Bound` says, so that exact cosines are computed only of the few pairs
that can be among the k nearest. The result depends neither on blocks nor on threads nor on the processor.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paraphrastic.base.threads import Workers
from paraphrastic.neighbours.bounds import Bound, bound_for_neighbours
from paraphrastic.neighbours.kernels import NOTHING, Entries, Float64, Int64, merge, offer_block, offer_rows
from paraphrastic.neighbours.parts import multiplying_workers, share, slices
from paraphrastic.neighbours.vectors import require_finite

# Numbers of a block of rows that a thread normalizes, which stay in its cache, and rows of it at most.
_PART_NUMBERS, PART_ROWS = 1 << 18, 1024
# Columns that such a block is multiplied with at a time.
PART_COLUMNS = 512
# Columns of `nearest_neighbours` that all rows are compared with before the next ones.
PANEL = 16 * PART_COLUMNS
# Columns that rows are compared with exactly at once: of so few, rounded products would take longer.
FEW = 2
# Rounding of cosines of equal vectors, with room to spare.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The k nearest neighbours of n vectors, nearest first; of equally near ones, first the lower index.

    Attributes:
        indices: int64 [n, k]; `NOTHING` where there is none.
        cosines: [n, k].
    """

    indices: Int64
    cosines: Float64

    @classmethod
    def nothing(cls, n: int, k: int) -> "Neighbours":
        """Nothing found yet."""
        return cls(np.full((n, k), NOTHING, np.int64), np.full((n, k), -np.inf))

    def __getitem__(self, rows: slice) -> "Neighbours":
        return Neighbours(self.indices[rows], self.cosines[rows])

    def add(self, other: "Neighbours") -> None:
        """Take up what was found elsewhere for the same vectors."""
        merge(self.cosines, self.indices, other.cosines, other.indices)


class Columns:
    """Vectors, the columns, that blocks of rows are offered to; each thread finds neighbours of its own.

    Args:
        entries: [n, dim].
        k: neighbours of a column.
        bound: of products.
        workers: the threads.
        lowest: cosines below are not offered.
        zeros: whether zero vectors are near to others, with cosine 0.
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
            rows: their entries.
            first: index of the first row.
            by_row: what was found for the rows.
            name: of the rows, for messages.
            tell: is told the share of the work that is done, now and then.

        Raises:
            InputError: a row is not finite.
        """
        size = max(1, min(self._size, -(-len(rows) // self._workers.size)))

        def work(part: slice, index: int) -> None:
            norms, own = np.empty(part.stop - part.start), self._own[index]
            if by_row is None and len(self._entries) <= FEW:
                offer_rows(
                    rows[part], norms, first + part.start, self._lowest, self._zeros,
                    self._entries, self._norms, own.cosines, own.indices,
                )  # fmt: skip
                require_finite(norms, name, first + part.start)
                return
            vectors = self._bound.vectors(rows[part], norms, self._units[index])
            require_finite(norms, name, first + part.start)
            bars = self._bars[index]
            found = by_row[part] if by_row else own[:0]
            for columns in slices(len(self._entries), PART_COLUMNS):
                count = columns.stop - columns.start
                products = self._products[index][: len(norms) * count].reshape(len(norms), count)
                self._bound.multiply(vectors, self._vectors[columns], products)
                offer_block(
                    products, self._bound.slack, self._lowest, self._zeros,
                    rows[part], norms, first + part.start, found.cosines, found.indices,
                    self._entries[columns], self._norms[columns], self._first + columns.start,
                    own.cosines[columns], own.indices[columns], bars[columns],
                )  # fmt: skip
            if index == 0 and tell:
                tell(part.stop / len(rows))

        share(self._workers, slices(len(rows), size), work)

    def found(self) -> Neighbours:
        """The columns' neighbours among all rows so far."""
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
    """The k nearest neighbours in `y` of each of `x`, and those in `x` of each of `y`, by cosine.

    A set of fewer than k has them all as neighbours.

    Args:
        x: n finite vectors, one at least, float32 or int16 [n, dim].
        y: m finite vectors, one at least, [m, dim].
        k: neighbours.
        threads: of the processor; their number does not change the result.
        bound: by which pairs are ruled out; it does not change the result. None is one that a sample says is
            fast.
        progress: is told the share of the work that is done, now and then.
    """
    by_row = Neighbours.nothing(len(x), min(k, len(y)))
    by_column = Neighbours.nothing(len(y), min(k, len(x)))
    bound = bound or bound_for_neighbours(x, y, k)
    with multiplying_workers(threads) as workers:
        for panel in slices(len(y), PANEL):

            def tell(share: float, panel: slice = panel) -> None:
                if progress:
                    progress((panel.start + share * (panel.stop - panel.start)) / len(y))

            columns = Columns(
                y[panel], by_column.indices.shape[1], bound, workers, first=panel.start, name="vectors"
            )
            columns.compare(x, 0, by_row, "vectors", tell)
            by_column[panel].add(columns.found())
            # Another thread may have done the last block.
            tell(1.0)
    return by_row, by_column
