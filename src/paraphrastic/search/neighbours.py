"""Nearest neighbours by cosine between two sets of vectors, in both directions at once.

All pairs are compared, most of them by their codes alone (see `sketches`): exact cosines are computed only of
those that these do not rule out.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from paraphrastic.base.threads import Workers
from paraphrastic.search.choice import plan_for_neighbours
from paraphrastic.search.directions import Directions
from paraphrastic.search.kernels import NOTHING, Float64, Int64, merge, nearest
from paraphrastic.search.parts import share, slices
from paraphrastic.search.plans import Plan
from paraphrastic.search.sketches import Columns, Sketch
from paraphrastic.search.tiles import ROWS, WIDTH

# Rows that a thread compares at a time: their codes are to stay in its cache.
BLOCK_ROWS = 32 * ROWS
# Columns that are searched by all rows before the next ones; the threads share them.
PANEL = 256 * WIDTH


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
        """None yet."""
        return cls(np.full((n, k), NOTHING, np.int64), np.full((n, k), -np.inf))

    def __getitem__(self, rows: slice) -> "Neighbours":
        return Neighbours(self.indices[rows], self.cosines[rows])

    def add(self, other: "Neighbours") -> None:
        """Take up what another thread has found for the same vectors."""
        merge(self.cosines, self.indices, other.cosines, other.indices)


def nearest_neighbours(
    x: Directions,
    y: Directions,
    k: int,
    *,
    threads: int = 1,
    plan: Plan | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Neighbours, Neighbours]:
    """The k nearest neighbours in `y` of each of `x`, and those in `x` of each of `y`, by cosine.

    A set of fewer than k has them all as neighbours.

    Args:
        x: n directions, one at least.
        y: m directions, one at least, of the same dimension.
        k: neighbours.
        threads: of the processor; their number does not change the result.
        plan: by which pairs are ruled out; it does not change the result. None is one that a sample says is
            fast.
        progress: is told the share of the work that is done, now and then.
    """
    with closing(Workers(threads)) as workers:
        plan = plan or plan_for_neighbours(x, y, k, workers)
        rows, columns = Sketch.of(x, plan, workers), Sketch.of(y, plan, workers)
        by_row = Neighbours.nothing(len(x), min(k, len(y)))
        by_column = Neighbours.nothing(len(y), min(k, len(x)))
        for panel in slices(len(y), PANEL):
            indices = np.arange(panel.start, panel.stop)
            own = [by_column[panel]]
            own += [Neighbours.nothing(len(indices), min(k, len(x))) for _ in range(1, threads)]

            def tell(share: float, panel: slice = panel) -> None:
                if progress:
                    progress((panel.start + share * (panel.stop - panel.start)) / len(y))

            compare(rows, x, columns.columns(indices), y[panel], panel.start, by_row, own, workers, tell=tell)
            for other in own[1:]:
                own[0].add(other)
    return by_row, by_column


def compare(
    sketch: Sketch,
    x: Directions,
    columns: Columns,
    y: Directions,
    first: int,
    by_row: Neighbours,
    by_column: Sequence[Neighbours],
    workers: Workers,
    *,
    lowest: float = -np.inf,
    zeros: bool = True,
    tell: Callable[[float], None] | None = None,
) -> None:
    """Offer columns to all rows and, where they are to be found for them too, the rows to these columns.

    Args:
        sketch: of the rows.
        x: their directions.
        columns: codes, by the same plan.
        y: their directions.
        first: index of the first column.
        by_row: what was found for the rows.
        by_column: what each thread has found for the columns; empty where nothing is looked for.
        workers: the threads.
        lowest: cosines below are not offered.
        zeros: whether zero vectors are offered, and get offers.
        tell: is told the share of the work that is done, now and then, and that all is.
    """
    nothing = Neighbours.nothing(0, 1)
    # So that no thread is left without work; each takes a block as it gets to it, in the order of the rows.
    size = min(BLOCK_ROWS, -(-len(x) // (ROWS * workers.size)) * ROWS)
    bars = [columns.bars(len(own.indices)) for own in by_column or [nothing]]

    def work(block: slice, index: int) -> None:
        own = by_column[index] if by_column else nothing
        nearest(
            sketch.codes, sketch.more, x.entries, x.norms, block.start, block.stop,
            columns.panels, columns.more, y.entries, y.norms, first,
            sketch.plan.product_unit, lowest, zeros,
            by_row.cosines, by_row.indices, own.cosines, own.indices, bars[index if by_column else 0],
        )  # fmt: skip
        if index == 0 and tell and block.stop < len(x):
            tell(block.stop / len(x))

    share(workers, slices(len(x), size), work)
    # Whichever thread did the last block.
    if tell:
        tell(1.0)
