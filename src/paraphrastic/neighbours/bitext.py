"""Mining of translations among the sentences of two languages (Artetxe and Schwenk 2019)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from paraphrastic.base.arrays import Float64, Int64
from paraphrastic.neighbours.kernels import NOTHING
from paraphrastic.neighbours.nearest import Neighbours

Margin = Literal["ratio", "distance", "cosine"]
NEIGHBOURS = 4


@dataclass(frozen=True, slots=True)
class MinedPairs:
    """Pairs of sentences, best first; no sentence is in two pairs.

    Attributes:
        sources: int64 [p], indices of the source sentences.
        targets: int64 [p], indices of the target sentences.
        scores: [p], descending.
    """

    sources: Int64
    targets: Int64
    scores: Float64


def best_pairs(forward: Neighbours, backward: Neighbours, margin: Margin) -> MinedPairs:
    """Pair sentences with their best candidates; if pairs share a sentence, only the best one is kept.

    Each sentence has one candidate, the neighbour with the highest score. Let a be the average of two means:
    of x's cosines with its neighbours, and of y's cosines with its neighbours. The score of x and y is their
    cosine, its `distance` from a (cosine - a), or its `ratio` to a (cosine / a), which is 0 if a is not
    positive (Artetxe and Schwenk 2019, section 3; retrieval by the highest score). A sentence for which
    nothing was found, as `search` says of zero vectors, is in no pair.

    Args:
        forward: nearest targets of each source.
        backward: nearest sources of each target.
        margin: how pairs are scored.
    """
    # What was not found counts as 0.
    means = [
        np.where(found.indices == NOTHING, 0, found.cosines).mean(axis=1) for found in (forward, backward)
    ]
    targets, forward_scores = _candidates(forward, means[0], means[1], margin)
    sources, backward_scores = _candidates(backward, means[1], means[0], margin)
    pairs = np.concatenate(
        [np.stack([np.arange(len(targets)), targets]), np.stack([sources, np.arange(len(sources))])], axis=1
    )
    scores = np.concatenate([forward_scores, backward_scores])
    order = np.lexsort((pairs[1], pairs[0], -scores))
    order = order[(pairs[:, order] != NOTHING).all(axis=0)]
    source_taken, target_taken = bytearray(len(targets)), bytearray(len(sources))
    kept = []
    for index, (source, target) in zip(order.tolist(), pairs[:, order].T.tolist(), strict=True):
        if not (source_taken[source] or target_taken[target]):
            source_taken[source] = target_taken[target] = 1
            kept.append(index)
    return MinedPairs(pairs[0, kept], pairs[1, kept], scores[kept])


def _candidates(
    neighbours: Neighbours, means: Float64, other_means: Float64, margin: Margin
) -> tuple[Int64, Float64]:
    """Return the best neighbour of each sentence and its score."""
    scores = neighbours.cosines
    if margin != "cosine":
        average = (means[:, None] + other_means[neighbours.indices]) / 2
        if margin == "distance":
            scores = scores - average
        else:
            scores = np.divide(scores, average, out=np.zeros_like(scores), where=average > 0)
        scores = np.where(neighbours.indices == NOTHING, -np.inf, scores)
    best = scores.argmax(axis=1)[:, None]
    return (
        np.take_along_axis(neighbours.indices, best, 1)[:, 0].astype(np.int64),
        np.take_along_axis(scores, best, 1)[:, 0],
    )
