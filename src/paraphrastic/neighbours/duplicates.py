"""Near duplicates in meaning: vectors that are near an earlier one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Bool, Float32, Float64, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.base.threads import available_cores
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.neighbours.bounds import bound_for_threshold
from paraphrastic.neighbours.kernels import NOTHING, first_near
from paraphrastic.neighbours.nearest import ROUNDING
from paraphrastic.neighbours.parts import multiplying_workers, slices
from paraphrastic.neighbours.vectors import require_finite, single, two_axes, vectors_of

# Vectors per block, whose kept vectors are compared with all later ones, and vectors compared at once.
BLOCK, PART = 8192, 512


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Near duplicates, and the kept vectors that they are duplicates of.

    Attributes:
        originals: int64 [n], for each vector left out the kept one that it is near; `NOTHING` for kept ones.
        cosines: [n], cosines with the originals; 0 for kept vectors.
    """

    originals: Int64
    cosines: Float64

    @property
    def kept(self) -> Int64:
        """Indices of the vectors that are kept, ascending."""
        return np.flatnonzero(self.originals == NOTHING)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Vectors to compare: their indices, entries and norms, and the bound's vectors to multiply."""

    indices: Int64
    entries: Float32
    norms: Float64
    vectors: Float32

    def __getitem__(self, chosen: slice | Bool) -> "_Rows":
        return _Rows(self.indices[chosen], self.entries[chosen], self.norms[chosen], self.vectors[chosen])


def near_duplicates(
    vectors: npt.ArrayLike | Iterable[str],
    threshold: float,
    *,
    model: SentenceEncoder | None = None,
    language: str | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Duplicates:
    """Find the vectors whose cosine with an earlier kept vector reaches the threshold.

    A vector is left out if it is near an earlier kept one, the first of which is its original; otherwise it
    is kept. A zero vector is never a duplicate.

    Args:
        vectors: floating-point numbers, [n, dim]; with `model`, also sentences.
        threshold: above 0; a cosine that is lower only by rounding reaches it.
        model: embeds sentences.
        language: their language; see `SentenceEncoder.embed_raw_text`.
        threads: number of threads; None uses all cores. It does not change the result.
        progress: is called now and then with the share of the work that is done.

    Raises:
        InputError: a vector is not finite, sentences come without a model, or the threshold is not above 0.
    """
    if not threshold > 0:
        raise InputError(f"a threshold of {threshold:.12g} is not above 0")
    x = single(two_axes(vectors_of(vectors, model, language, "vectors"), "vectors"))
    for part in slices(len(x), PART):
        require_finite(np.abs(x[part]).max(axis=1, initial=0), "vectors", part.start)
    bound = bound_for_threshold(x, threshold)
    duplicates = Duplicates(np.full(len(x), NOTHING, np.int64), np.zeros(len(x)))

    def undecided(part: slice) -> _Rows:
        indices = part.start + np.flatnonzero(duplicates.originals[part] == NOTHING)
        vectors, norms = bound.vectors(x[indices])
        return _Rows(indices, x[indices], norms, vectors)

    def compare(rows: _Rows, columns: _Rows, same: bool = False) -> None:
        products = np.empty((len(rows.indices), len(columns.indices)), np.float32)
        np.matmul(rows.vectors, columns.vectors.T, out=products)
        first_near(
            products, bound.slack, threshold - ROUNDING, same,
            rows.indices, columns.indices, rows.entries, rows.norms, columns.entries, columns.norms,
            duplicates.originals, duplicates.cosines,
        )  # fmt: skip

    def kept_of(rows: _Rows) -> _Rows:
        return rows[duplicates.originals[rows.indices] == NOTHING]

    def settle(rows: _Rows) -> _Rows:
        """Compare the rows with each other and return those that are kept."""
        for part in slices(len(rows.indices), PART):
            compare(rows[part], rows[part], same=True)
            kept = kept_of(rows[part])

            def work(later: slice, _: int, kept: _Rows = kept) -> None:
                compare(rows[later], kept)

            workers.share(slices(len(rows.indices), PART, part.stop), work)
        return kept_of(rows)

    with multiplying_workers(threads or available_cores()) as workers:
        for block in slices(len(x), BLOCK):
            kept = settle(undecided(block))

            def work(part: slice, _: int, kept: _Rows = kept) -> None:
                others = undecided(part)
                for columns in slices(len(kept.indices), PART):
                    compare(others, kept[columns])

            workers.share(slices(len(x), PART, block.stop), work)
            if progress:
                # The share of all pairs.
                progress(1 - (1 - block.stop / len(x)) ** 2)
    return duplicates
