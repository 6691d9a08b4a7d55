"""Indexes that FAISS (Douze et al. 2024) saved; FAISS is an optional package."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.neighbours.bounds import Bound
from paraphrastic.neighbours.kernels import NOTHING
from paraphrastic.neighbours.nearest import Neighbours
from paraphrastic.neighbours.vectors import Matrix

_OWN_NUMBERS = "its vectors have ids of their own instead of row numbers"


class FaissFile(Matrix):
    """An index of inner products that FAISS saved.

    Attributes:
        is_exact: whether the index holds the vectors unchanged and compares them all.

    Raises:
        InputError: FAISS is not installed, or the file is not a usable index of inner products.
    """

    def __init__(self, path: str, threads: int) -> None:
        try:
            # Imported here because the package is optional.
            import faiss
        except ImportError:
            cause = "faiss is not installed; run pip install '.[faiss]' in the project's folder"
            raise InputError(cause) from None
        self._faiss = faiss
        faiss.omp_set_num_threads(threads)
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
        return self._index.reconstruct_n(rows.start, rows.stop - rows.start)

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
