"""Mine hard negatives: for each sentence, the most similar one of the mega-batch with another meaning."""

import numpy as np
import torch
from torch import Tensor

from paraphrastic.base.arrays import Float32, Int64
from paraphrastic_pipeline.training.leading_mining import LEAST_DIMENSIONS, LEAST_PAIRS, mine_by_leading
from paraphrastic_pipeline.training.mining_kernels import NO_NEGATIVE, nothing_found, scan
from paraphrastic_pipeline.training.same_meaning import SameMeaning
from paraphrastic_pipeline.training.threads import Workers, single_threaded_torch

# Rows and columns of the similarity matrix that a thread holds at a time; they should fit into its cache.
_ROWS, _COLUMNS = 256, 1024
# Rows of the matrix that a GPU holds at a time.
_DEVICE_ROWS = 4096


def mine(
    vectors: Tensor,
    same_meaning: SameMeaning,
    workers: Workers,
    *,
    either_side: bool = False,
    max_share: float | None = None,
    leading: bool = False,
) -> Int64:
    """Find the negative of every sentence in a mega-batch of n pairs (Wieting et al. 2021, section 3).

    Args:
        vectors: float32 [2n, dim] of unit length; the n sources, then their targets. If they are on a GPU, it
            does the search.
        same_meaning: which of the n pairs have no negatives for each other.
        workers: the threads; their number does not change the result.
        either_side: search all sentences, not only those of the other side.
        max_share: masks candidates whose similarity is above this share of the similarity of the sentence's
            own pair, since they may mean the same (Moreira et al. 2024, TopK-PercPos). None masks none.
        leading: search in the leading dimensions first (`leading_mining`), where that is faster. With
            `max_share`, all candidates found there might be masked, so the search is exact.

    Returns:
        int64 [2n], the index in `vectors` of each sentence's negative, or `NO_NEGATIVE` if every candidate is
        masked. Among equally similar candidates, the first one of the other side wins, and then the first one
        of the sentence's own side.
    """
    n = len(vectors) // 2
    limits = torch.empty(0, device=vectors.device)
    if max_share is not None:
        limits = (vectors[:n] * vectors[n:]).sum(dim=1) * max_share
    if vectors.is_cuda:
        return _mine_on_device(vectors, same_meaning, limits, either_side=either_side)
    large = vectors.shape[1] >= LEAST_DIMENSIONS and n >= LEAST_PAIRS
    with single_threaded_torch():
        if leading and max_share is None and large:
            return mine_by_leading(vectors, same_meaning, workers, either_side=either_side)
        return _mine_exactly(vectors, same_meaning, limits.numpy(), workers, either_side=either_side)


def _mine_exactly(
    vectors: Tensor, same_meaning: SameMeaning, limits: Float32, workers: Workers, *, either_side: bool
) -> Int64:
    """Compare all sentences, block by block of the matrix of similarities."""
    n = len(vectors) // 2
    sides = vectors[:n], vectors[n:]
    size = max(1, min(_ROWS, -(-n // 8)))
    # Each row belongs to one thread, but all threads share the columns, so each has its own results for them.
    by_row, by_column = nothing_found(n), [nothing_found(n) for _ in range(workers.size)]
    own_side = [nothing_found(n) for _ in sides]

    def search(thread: int) -> None:
        for start in range(thread * size, n, workers.size * size):
            for first in range(0, n, _COLUMNS):
                # One product serves both directions, along rows and along columns.
                compared = [(0, 1, by_row, by_column[thread])]
                if either_side:
                    compared += [(side, side, own_side[side], nothing_found(0)) for side in (0, 1)]
                for left, right, of_rows, of_columns in compared:
                    similarity = sides[left][start : start + size] @ sides[right][first : first + _COLUMNS].T
                    scan(
                        similarity.numpy(), start, first, right * n, same_meaning, limits, of_rows, of_columns
                    )

    workers.run(search)
    # Each thread has searched its own rows; of equally similar sentences, the first one wins.
    values, found = (np.stack(arrays) for arrays in zip(*by_column, strict=True))
    highest = values.max(axis=0)
    found = np.where((values == highest) & (found >= 0), found, 2 * n).min(axis=0)
    found[found == 2 * n] = NO_NEGATIVE
    values, found = np.append(by_row[0], highest), np.append(by_row[1], found)
    own_values, own_found = (np.concatenate(arrays) for arrays in zip(*own_side, strict=True))
    return np.where(own_values > values, own_found, found)


def _mine_on_device(
    vectors: Tensor, same_meaning: SameMeaning, limits: Tensor, *, either_side: bool
) -> Int64:
    """Compare all sentences by torch's operations, on the device of `vectors`."""
    n, device = len(vectors) // 2, vectors.device
    marked = same_meaning.has_copy | (np.diff(same_meaning.group_offsets) > 0)
    negatives = []
    for side in (0, 1):
        own, other = vectors.split(n)[:: 1 - 2 * side]
        candidates = torch.cat([other, own]) if either_side else other
        # The indices of the candidates in `vectors`.
        places = torch.arange(2 * n, device=device).roll(-n if side == 0 else 0)
        for start in range(0, n, _DEVICE_ROWS):
            pairs = np.arange(start, min(n, start + _DEVICE_ROWS))
            parts = (own[start : start + _DEVICE_ROWS] @ candidates.T).split(n, dim=1)
            rows = np.flatnonzero(marked[pairs])
            masked = torch.from_numpy(same_meaning.rows(pairs[rows])).to(device)
            for part in parts:
                part.diagonal(start).fill_(-torch.inf)
                part[torch.from_numpy(rows).to(device)] += torch.where(masked, -torch.inf, 0.0)
                if len(limits):
                    part.masked_fill_(part > limits[start : start + _DEVICE_ROWS, None], -torch.inf)
            highest, found = torch.cat(parts, dim=1).max(dim=1)
            negatives.append(torch.where(highest > -torch.inf, places[found], NO_NEGATIVE))
    return torch.cat(negatives).cpu().numpy()
