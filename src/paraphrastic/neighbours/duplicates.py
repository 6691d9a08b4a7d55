"""Near duplicates by meaning: vectors that are near to an earlier one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.errors import InputError
from paraphrastic.base.threads import available_cores
from paraphrastic.neighbours.bounds import Bound, bound_for_threshold
from paraphrastic.neighbours.kernels import NOTHING, Entries, Float64, Int64, first_near
from paraphrastic.neighbours.nearest import ROUNDING
from paraphrastic.neighbours.parts import multiplying_workers, share, slices
from paraphrastic.neighbours.vectors import require_finite, single, two_axes

# Vectors whose near duplicates are looked for among all later ones, and among each other.
BLOCK, PART = 8192, 512


@dataclass(frozen=True, slots=True)
class Duplicates:
    """The vectors that near duplicates are duplicates of.

    Attributes:
        originals: int64 [n], the kept vector for each one that is left out; `NOTHING` for the kept ones.
        cosines: [n], with these; 0 for those that are kept.
    """

    originals: Int64
    cosines: Float64

    @property
    def kept(self) -> Int64:
        """Indices of the vectors that are kept, ascending."""
        return np.flatnonzero(self.originals == NOTHING)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Vectors that are compared: their indices, entries, and norms, and what is multiplied."""

    indices: Int64
    entries: Entries
    norms: Float64
    vectors: npt.NDArray[Any]

    def __getitem__(self, chosen: slice | npt.NDArray[np.bool_]) -> "_Rows":
        return _Rows(self.indices[chosen], self.entries[chosen], self.norms[chosen], self.vectors[chosen])


def near_duplicates(
    vectors: npt.ArrayLike | Entries,
    threshold: float,
    *,
    threads: int | None = None,
    bound: Bound | None = None,
    progress: Callable[[float], None] | None = None,
) -> Duplicates:
    """The vectors whose cosine with an earlier one that is kept is the threshold or more.

    In their order, each vector is left out if there is such an earlier one, of which the first is its
    original, and kept otherwise. So each is compared only with those that are kept, and no more once it is
    left out. A zero vector is no duplicate.

    Args:
        vectors: floating-point numbers, [n, dim], or int16 as `direction_entries` makes them.
        threshold: above 0; a cosine that is below by no more than rounding reaches it.
        threads: of the processor; None is all. Their number does not change the result.
        bound: by which pairs are ruled out; it does not change the result. None is one that a sample says is
            fast.
        progress: is told the share of the work that is done, now and then.

    Raises:
        InputError: vectors that are not finite, a threshold that is not above 0.
    """
    if not threshold > 0:
        raise InputError(f"a threshold of {threshold:.12g} is not above 0")
    values = np.asarray(vectors)
    x: Entries = values if values.dtype == np.int16 else single(two_axes(values, "vectors"))
    found = Duplicates(np.full(len(x), NOTHING, np.int64), np.zeros(len(x)))

    def undecided(part: slice) -> _Rows:
        indices = part.start + np.flatnonzero(found.originals[part] == NOTHING)
        entries, norms = x[indices], np.empty(len(indices))
        return _Rows(indices, entries, norms, chosen.vectors(entries, norms))

    def compare(rows: _Rows, columns: _Rows, own: bool = False) -> None:
        products = np.empty((len(rows.indices), len(columns.indices)), np.float32)
        chosen.multiply(rows.vectors, columns.vectors, products)
        first_near(
            products, chosen.slack, threshold - ROUNDING, own,
            rows.indices, columns.indices, rows.entries, rows.norms, columns.entries, columns.norms,
            found.originals, found.cosines,
        )  # fmt: skip

    def kept_of(rows: _Rows) -> _Rows:
        return rows[found.originals[rows.indices] == NOTHING]

    def settle(rows: _Rows) -> _Rows:
        """The rows that are kept, after all are compared with each other."""
        for part in slices(len(rows.indices), PART):
            compare(rows[part], rows[part], own=True)
            kept = kept_of(rows[part])

            def work(later: slice, _: int, kept: _Rows = kept) -> None:
                compare(rows[later], kept)

            share(workers, slices(len(rows.indices), PART, part.stop), work)
        return kept_of(rows)

    for part in slices(len(x), PART):
        require_finite(np.abs(x[part]).max(axis=1, initial=0), "vectors", part.start)
    chosen = bound or bound_for_threshold(x, threshold)
    with multiplying_workers(threads or available_cores()) as workers:
        for block in slices(len(x), BLOCK):
            kept = settle(undecided(block))

            def work(part: slice, _: int, kept: _Rows = kept) -> None:
                others = undecided(part)
                for columns in slices(len(kept.indices), PART):
                    compare(others, kept[columns])

            share(workers, slices(len(x), PART, block.stop), work)
            if progress:
                # Of all pairs.
                progress(1 - (1 - block.stop / len(x)) ** 2)
    return found
