"""Near duplicates by meaning: vectors that are near to an earlier one."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paraphrastic.base.errors import InputError
from paraphrastic.base.threads import Workers, available_cores
from paraphrastic.search.choice import plan_for_threshold
from paraphrastic.search.directions import Directions, directions_of, single, two_axes
from paraphrastic.search.kernels import NOTHING, Float64, Int64, first_near
from paraphrastic.search.parts import share, slices
from paraphrastic.search.plans import Plan
from paraphrastic.search.sketches import Columns, Sketch
from paraphrastic.search.tiles import ROWS

# Vectors that others are compared with at a time.
BLOCK = 1024
# Bytes of codes that a thread compares with these; they are to stay in its cache.
_PART_BYTES = 1 << 19
# Rounding of cosines of equal vectors, with room to spare.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Duplicates:
    """What near duplicates are duplicates of.

    Attributes:
        originals: int64 [n], for each vector that is left out the kept one; `NOTHING` for the kept ones.
        cosines: [n], with these; 0 for those that are kept.
    """

    originals: Int64
    cosines: Float64

    @property
    def kept(self) -> Int64:
        """Indices of the vectors that are kept, ascending."""
        return np.flatnonzero(self.originals == NOTHING)


def near_duplicates(
    vectors: npt.ArrayLike | Directions,
    threshold: float,
    *,
    threads: int | None = None,
    plan: Plan | None = None,
    progress: Callable[[float], None] | None = None,
) -> Duplicates:
    """The vectors whose cosine with an earlier one that is kept is the threshold or more.

    In their order, each vector is left out if there is such an earlier one, of which the first is its
    original, and kept otherwise. So each is compared only with those that are kept, and no more once it is
    left out. A zero vector is no duplicate.

    Args:
        vectors: floating-point numbers, [n, dim], or their directions.
        threshold: above 0; a cosine that is below by no more than rounding reaches it.
        threads: of the processor; None is all. Their number does not change the result.
        plan: by which pairs are ruled out; it does not change the result. None is one that a sample says is
            fast.
        progress: is told the share of the work that is done, now and then.

    Raises:
        InputError: vectors that are not finite, a threshold that is not above 0.
    """
    if not threshold > 0:
        raise InputError(f"a threshold of {threshold:.12g} is not above 0")
    with closing(Workers(threads or available_cores())) as workers:
        x = vectors if isinstance(vectors, Directions) else _directions(vectors, workers)
        found = Duplicates(np.full(len(x), NOTHING, np.int64), np.zeros(len(x)))
        plan = plan or plan_for_threshold(x, threshold, workers)
        sketch = Sketch.of(x, plan, workers)

        def new(part: slice) -> Int64:
            return part.start + np.flatnonzero(found.originals[part] == NOTHING)

        def compare(rows: Int64, others: Int64, columns: Columns, own: bool) -> None:
            first_near(
                sketch.codes, sketch.more, x.entries, x.norms, rows, columns.panels, columns.more, others,
                plan.product_unit, threshold - ROUNDING, own, found.originals, found.cosines,
            )  # fmt: skip

        size = max(ROWS, _PART_BYTES // (4 * plan.words))
        for block in slices(len(x), BLOCK):
            rows = new(block)
            compare(rows, rows, sketch.columns(rows), True)
            kept = new(block)
            columns = sketch.columns(kept)

            def work(part: slice, _: int, kept: Int64 = kept, columns: Columns = columns) -> None:
                compare(new(part), kept, columns, False)

            share(workers, slices(len(x), size, block.stop), work)
            if progress:
                # Of all pairs.
                progress(1 - (1 - block.stop / len(x)) ** 2)
    return found


def _directions(vectors: npt.ArrayLike, workers: Workers) -> Directions:
    return directions_of(single(two_axes(vectors, "vectors")), workers, "vectors")
