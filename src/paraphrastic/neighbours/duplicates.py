"""Near duplicates in meaning: vectors that are near an earlier one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Bool, Float32, Float64, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.base.threads import available_cores
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.forks import not_forked
from paraphrastic.neighbours.bounds import bound_for_threshold
from paraphrastic.neighbours.kernels import NOTHING, first_near
from paraphrastic.neighbours.nearest import ROUNDING
from paraphrastic.neighbours.parts import multiply, multiplying_workers, slices
from paraphrastic.neighbours.vectors import require_finite, single, vectors_of

# Vectors per block, whose kept vectors are compared with all later ones, and vectors compared at once.
BLOCK, PART = 8192, 512


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Near duplicates, and the vectors that they are duplicates of.

    Attributes:
        originals: int64 [n], for each vector left out the kept one that it is near; `NOTHING` for kept ones.
            With `against`, its rows count first: original i is row i of both, one after the other.
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
    against: npt.ArrayLike | Iterable[str] | None = None,
    model: SentenceEncoder | None = None,
    language: str | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Duplicates:
    """Find the vectors whose cosine with an earlier kept vector reaches the threshold.

    A vector is left out if it is near an earlier kept one, the first of which is its original; otherwise it
    is kept. A zero vector is never a duplicate. The rows of `against` come before all vectors, and every one
    of them is kept, even if it is near another.

    Args:
        vectors: floating-point numbers, [n, dim]; with `model`, also sentences.
        threshold: above 0; a cosine that is lower only by rounding reaches it.
        against: what is there already, in the same form, [m, dim].
        model: embeds sentences.
        language: their language; see `SentenceEncoder.embed_raw_text`.
        threads: number of threads; None uses all cores. It does not change the result.
        progress: is called now and then with the share of the work that is done.

    Raises:
        InputError: a vector is not finite, dimensions differ, sentences come without a model, or the
            threshold is not above 0.
    """
    if not threshold > 0:
        raise InputError(f"a threshold of {threshold:.12g} is not above 0")
    new = _finite(vectors, model, language, "vectors")
    old = new[:0] if against is None else _finite(against, model, language, "against")
    if len(new) and len(old) and new.shape[1] != old.shape[1]:
        raise InputError(f"vectors have {new.shape[1]} dimensions, but against has {old.shape[1]}")
    return _compared(new, old, threshold, threads or available_cores(), progress)


def _compared(
    new: Float32, old: Float32, threshold: float, threads: int, progress: Callable[[float], None] | None
) -> Duplicates:
    n, m = len(new), len(old)
    with not_forked():
        bound = bound_for_threshold(new, threshold)
    originals, cosines = np.full(m + n, NOTHING, np.int64), np.zeros(m + n)

    def undecided(part: slice) -> _Rows:
        indices = part.start + np.flatnonzero(originals[part] == NOTHING)
        entries = old[indices] if part.start < m else new[indices - m]
        vectors, norms = bound.vectors(entries)
        return _Rows(indices, entries, norms, vectors)

    def compare(rows: _Rows, columns: _Rows, same: bool = False) -> None:
        products = np.empty((len(rows.indices), len(columns.indices)), np.float32)
        multiply(rows.vectors, columns.vectors.T, products)
        first_near(
            products, bound.slack, threshold - ROUNDING, same,
            rows.indices, columns.indices, rows.entries, rows.norms, columns.entries, columns.norms,
            originals, cosines,
        )  # fmt: skip

    def kept_of(rows: _Rows) -> _Rows:
        return rows[originals[rows.indices] == NOTHING]

    def compare_later(later: list[slice], rows_of: Callable[[slice], _Rows], kept: _Rows) -> None:
        def work(part: slice, _: int) -> None:
            rows = rows_of(part)
            for columns in slices(len(kept.indices), PART):
                compare(rows, kept[columns])

        workers.share(later, work)

    def settle(rows: _Rows) -> _Rows:
        """Compare the rows with each other and return those that are kept."""
        for part in slices(len(rows.indices), PART):
            compare(rows[part], rows[part], same=True)
            compare_later(slices(len(rows.indices), PART, part.stop), rows.__getitem__, kept_of(rows[part]))
        return kept_of(rows)

    with multiplying_workers(threads) as workers:
        for block in (*slices(m, BLOCK), *slices(m + n, BLOCK, m)):
            kept = undecided(block) if block.start < m else settle(undecided(block))
            later = max(block.stop, m)
            compare_later(slices(m + n, PART, later), undecided, kept)
            if progress and n:
                pairs = (m + n - later) ** 2 / 2 + (later - block.stop) * n
                progress(1 - pairs / (n * n / 2 + m * n))
    return Duplicates(originals[m:], cosines[m:])


def _finite(values: Any, model: SentenceEncoder | None, language: str | None, name: str) -> Float32:
    x = single(vectors_of(values, model, language, name))
    require_finite(np.einsum("nd,nd->n", x, x, dtype=np.float64), name)
    return x
