"""Which pairs are known to mean the same, so that they have no negatives for each other."""

from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse

from paraphrastic.base.arrays import Bool, Int32, Int64
from paraphrastic_pipeline.training.sentences import Sentences


class SameMeaning(NamedTuple):
    """The mask of a batch of n pairs: two pairs mean the same if they share a sentence or a group.

    It is a named tuple of arrays because compiled code reads it. A matrix of all pairs would not fit into
    memory.

    Attributes:
        pairs: int32, the pairs that mean the same as each pair, itself among them, in ascending order; pair
            after pair.
        offsets: int64 [n + 1], those of pair i are `pairs[offsets[i]:offsets[i + 1]]`.
    """

    pairs: Int32
    offsets: Int64

    @classmethod
    def of(cls, sentences: Sentences, *, exclude_duplicates: bool = True) -> Self:
        """The mask of `sentences`, which are the sources of n pairs and then their targets.

        Without `exclude_duplicates`, a pair means the same only as itself, as in the original code.
        """
        n = len(sentences) // 2
        if not exclude_duplicates:
            return cls(np.arange(n, dtype=np.int32), np.arange(n + 1))
        rows, marks = np.tile(np.arange(n), 2), sentence_ids(sentences)
        if sentences.groups:
            groups = sentences.groups.part(0, n)
            rows = np.append(rows, np.repeat(np.arange(n), groups.lengths))
            # Groups are numbered after the sentences.
            marks = np.append(marks, 2 * n + np.unique(groups.tokens, return_inverse=True)[1])
        shape = (n, int(marks.max(initial=0)) + 1)
        marked = scipy.sparse.csr_matrix((np.ones(len(rows), np.bool_), (rows, marks)), shape)
        same = (marked @ marked.T).tocsr()
        same.sort_indices()
        return cls(same.indices.astype(np.int32), same.indptr.astype(np.int64))

    def matrix(self) -> Bool:
        """Whether each pair means the same as each other one: bool [n, n]."""
        n = len(self.offsets) - 1
        same = np.zeros((n, n), np.bool_)
        same[np.repeat(np.arange(n), np.diff(self.offsets)), self.pairs] = True
        return same


def sentence_ids(sentences: Sentences) -> Int64:
    """One number for each of n sentences, int64 [n], the same for equal ones; below n."""
    units = []
    for unit in (sentences, *sentences.others):
        content, ends = unit.tokens.tobytes(), (unit.offsets * unit.tokens.itemsize).tolist()
        units.append([content[start:end] for start, end in pairwise(ends)])
    numbers: dict[tuple[bytes, ...], int] = {}
    ids = (numbers.setdefault(key, len(numbers)) for key in zip(*units, strict=True))
    return np.fromiter(ids, np.int64, len(sentences))
