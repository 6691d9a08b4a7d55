"""Hard negatives: the most similar sentence of a mega-batch that is not the pair itself."""

import torch
from torch import Tensor

NO_NEGATIVE = -1
# Rows of the similarity matrix held at a time: 1,024 × 18,000 floats (M = 140) are 74 MB.
BLOCK_ROWS = 1024


def hardest_negatives(
    vectors: Tensor,
    fingerprints: Tensor,
    *,
    either_side: bool,
    exclude_duplicates: bool,
    block_rows: int = BLOCK_ROWS,
) -> Tensor:
    """The negative of every sentence of a mega-batch of n pairs (Wieting et al. 2021, section 3).

    Args:
        vectors: [2n, dim] of unit length; the n sources, then their targets.
        fingerprints: int64 [2n], equal for equal sentences.
        either_side: look among all sentences, not only among those of the other side.
        exclude_duplicates: also bar every pair that has a sentence in common with the sentence's own pair.
        block_rows: rows of the similarity matrix held in memory at a time.

    Returns:
        int64 [2n], the index in `vectors` of each sentence's negative, or `NO_NEGATIVE` where every
        candidate is barred. Of equally similar candidates, the first one is taken.
    """
    n = len(vectors) // 2
    source, target = vectors[:n], vectors[n:]
    source_ids, target_ids = fingerprints[:n], fingerprints[n:]
    has_copy = _occurs_again(fingerprints) if exclude_duplicates else torch.zeros(2 * n, dtype=torch.bool)
    pair_has_copy = has_copy[:n] | has_copy[n:]
    best = torch.full((2 * n,), -torch.inf)
    negative = torch.full((2 * n,), NO_NEGATIVE)

    def bar(similarity: Tensor, start: int) -> None:
        rows = torch.arange(len(similarity))
        similarity[rows, rows + start] = -torch.inf
        rows = rows[pair_has_copy[start : start + len(similarity)]]
        if len(rows):
            own_source, own_target = source_ids[rows + start, None], target_ids[rows + start, None]
            shared = (source_ids == own_source) | (target_ids == own_target)
            shared |= (source_ids == own_target) | (target_ids == own_source)
            similarity[rows] = similarity[rows].masked_fill_(shared, -torch.inf)

    def offer(sentences: slice, similarity: Tensor, candidates: Tensor) -> None:
        better = similarity > best[sentences]
        best[sentences] = torch.where(better, similarity, best[sentences])
        negative[sentences] = torch.where(better, candidates, negative[sentences])

    for start in range(0, n, block_rows):
        stop = min(n, start + block_rows)
        # One product serves both directions: along its rows for sources, along its columns for targets.
        similarity = source[start:stop] @ target.T
        bar(similarity, start)
        values, indices = similarity.max(dim=1)
        offer(slice(start, stop), values, indices + n)
        values, indices = similarity.max(dim=0)
        offer(slice(n, 2 * n), values, indices + start)
        if either_side:
            for offset, side in ((0, source), (n, target)):
                similarity = side[start:stop] @ side.T
                bar(similarity, start)
                values, indices = similarity.max(dim=1)
                offer(slice(start + offset, stop + offset), values, indices + offset)
    return negative


def _occurs_again(ids: Tensor) -> Tensor:
    """Whether another element has the same value, bool [n]."""
    _, group, count = torch.unique(ids, return_inverse=True, return_counts=True)
    return count[group] > 1
