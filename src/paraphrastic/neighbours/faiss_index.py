"""Search with FAISS (Douze et al. 2024), an optional package."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.neighbours.bounds import Bound
from paraphrastic.neighbours.kernels import NOTHING
from paraphrastic.neighbours.matrix_search import BLOCK_NUMBERS, search
from paraphrastic.neighbours.nearest import ROUNDING, Neighbours
from paraphrastic.neighbours.parts import slices
from paraphrastic.neighbours.vectors import Matrix, require_finite, single

# Number of rows to look at beyond those asked for.
_SPARE = 20
_OWN_NUMBERS = "its vectors have ids of their own instead of row numbers"


def load_faiss(threads: int) -> Any:
    """Import FAISS and set its number of threads."""
    try:
        # Imported here because the package is optional.
        import faiss
    except ImportError:
        cause = "faiss is not installed; run pip install '.[faiss]' in the project's folder"
        raise InputError(cause) from None
    faiss.omp_set_num_threads(threads)
    return faiss


class FaissFile(Matrix):
    """An index of inner products that FAISS saved.

    Attributes:
        is_exact: whether the index holds the vectors unchanged and compares them all.

    Raises:
        InputError: FAISS is not installed, or the file is not a usable index of inner products.
    """

    def __init__(self, path: str, threads: int) -> None:
        self._faiss = faiss = load_faiss(threads)
        self.name = path
        try:
            with Path(path).open("rb"):
                pass
            self._index = faiss.read_index(path)
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        except RuntimeError as error:
            raise InputError(f"{path}: not an index of FAISS: {' '.join(str(error).split())}") from None
        if self._index.metric_type != faiss.METRIC_INNER_PRODUCT:
            raise InputError(
                f"{path}: an index of distances; an index of inner products of unit vectors is needed"
            )
        if not self._index.is_trained:
            raise InputError(f"{path}: an index without vectors that FAISS has not trained")
        self.shape = self._index.ntotal, self._index.d
        if isinstance(self._index, faiss.IndexIDMap):
            ids = faiss.vector_to_array(self._index.id_map)
            if not np.array_equal(ids, np.arange(self._index.ntotal)):
                raise InputError(f"{path}: {_OWN_NUMBERS}")
        self.is_exact = isinstance(self._index, faiss.IndexFlat)

    def __getitem__(self, rows: slice) -> Float32:
        values: Float32 = self._index.reconstruct_n(rows.start, rows.stop - rows.start)
        return values

    def some(self, rows: Sequence[int]) -> Float32 | None:
        """Return the numbers of a few rows, as the index holds them; None if it holds none of them."""
        index = self._index
        if isinstance(index, self._faiss.IndexIDMap):
            index = self._faiss.downcast_index(index.index)
        lists = self._faiss.try_extract_index_ivf(index)
        vectors = np.empty((len(rows), self.shape[1]), np.float32)
        try:
            if lists is not None:
                lists.make_direct_map()
            for place, row in enumerate(rows):
                vectors[place] = index.reconstruct(row)
        except RuntimeError:
            return None
        if lists is not None:
            lists.make_direct_map(False)
        return vectors

    def search(self, queries: Float32, k: int, min_score: float | None) -> Neighbours:
        """Return the nearest rows that the index finds, with the scores that it gives them.

        Raises:
            InputError: the index finds numbers that are not row numbers.
        """
        scores, rows = self._index.search(Bound(self.shape[1]).vectors(queries), k)
        if rows.max(initial=-1) >= self.shape[0]:
            raise InputError(f"{self.name}: {_OWN_NUMBERS}")
        wanted = (rows >= 0) & (queries != 0).any(axis=1, keepdims=True)
        if min_score is not None:
            wanted &= scores >= min_score
        cosines = np.where(wanted, scores, -np.inf).astype(np.float64)
        indices = np.where(wanted, rows, NOTHING).astype(np.int64)
        order = np.lexsort((indices, -cosines))
        return Neighbours(np.take_along_axis(indices, order, 1), np.take_along_axis(cosines, order, 1))


def search_with_faiss(
    matrix: Matrix | npt.NDArray[Any], queries: Float32, k: int, *, min_score: float | None, threads: int
) -> Neighbours:
    """Search an inexact index as it is, and anything else exactly, with FAISS's exact index of each block.

    FAISS computes in single precision. For exact results, `search` goes over its candidates, which are more
    rows than asked for, and over all rows of the block if rounding could hide a nearer one.
    """
    if isinstance(matrix, FaissFile) and not matrix.is_exact:
        return matrix.search(queries, k, min_score)
    faiss = load_faiss(threads)
    n, dim = matrix.shape
    neighbours = Neighbours.nothing(len(queries), min(k, n))
    lowest = -np.inf if min_score is None else min_score - ROUNDING
    bound = Bound(dim)
    units = bound.vectors(queries)
    for block in slices(n if len(queries) else 0, max(1, BLOCK_NUMBERS // max(1, dim))):
        values, norms = single(matrix[block]), np.empty(block.stop - block.start)
        index = faiss.IndexFlatIP(dim)
        index.add(bound.vectors(values, norms))
        require_finite(norms, getattr(matrix, "name", "vectors"), block.start)
        scores, rows = index.search(units, min(len(values), k + _SPARE))
        chosen = np.unique(rows)
        nearest = search(values[chosen], queries, k, min_score=min_score, threads=threads)
        indices = np.where(nearest.indices >= 0, chosen[nearest.indices], NOTHING)
        bars = np.maximum(nearest.cosines[:, -1], lowest)
        again = np.flatnonzero((bars <= scores[:, -1] + bound.slack) & queries.any(axis=1))
        if len(again) and rows.shape[1] < len(values):
            others = search(values, queries[again], k, min_score=min_score, threads=threads)
            indices[again], nearest.cosines[again] = others.indices, others.cosines
        indices[indices >= 0] += block.start
        neighbours.add(Neighbours(indices, nearest.cosines))
    return neighbours
