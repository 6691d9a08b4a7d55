"""Mine hard negatives: for each sentence, the most similar one of the mega-batch with another meaning.

Vectors of sentences lie near a subspace of few dimensions. An eighth of the dimensions, those in which the
vectors of the mega-batch are longest, therefore suffices to find candidates, which are then re-ranked by
their exact similarities.
"""

import numpy as np
import torch
from torch import Tensor

from paraphrastic.base.arrays import Float32, Int64
from paraphrastic_pipeline.training.mining_kernels import NO_NEGATIVE, Found, nothing_found, rerank, scan
from paraphrastic_pipeline.training.same_meaning import SameMeaning
from paraphrastic_pipeline.training.threads import Workers

# Rows of the similarity matrix that a thread holds at a time, and columns: for an exact search, they should
# fit into its cache; the leading dimensions find one candidate in each block.
_ROWS, _COLUMNS, _LEADING_COLUMNS = 256, 1024, 128
# The share of the dimensions that is searched first, at least so many, and the candidates that are re-ranked.
_SHARE, _FEWEST, _CANDIDATES = 1 / 8, 96, 8
# Below these sizes, an exact search is faster.
_LEAST_DIMENSIONS, _LEAST_PAIRS = 256, 2048
# Vectors that the leading dimensions are found from, and how often their covariance is applied.
_SAMPLE, _ITERATIONS = 2048, 2
# Rows that a thread multiplies at once.
_PART = 512
# Rows of the similarity matrix that a GPU holds at a time.
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
        leading: search in the leading dimensions first, where that is faster. A negative is then sometimes
            not the nearest sentence but one of the next ones. With `max_share`, all candidates found there
            might be masked, so the search is exact.

    Returns:
        int64 [2n], the index in `vectors` of each sentence's negative, or `NO_NEGATIVE` if every candidate is
        masked. Among equally similar candidates, the first one of the other side wins, and then the first one
        of the sentence's own side. On a GPU, without `max_share`, it is the best of the eight that are
        nearest in bfloat16, and equal ones may come in any order.
    """
    n = len(vectors) // 2
    limits = torch.full((n,), torch.inf, device=vectors.device)
    if max_share is not None:
        limits = (vectors[:n] * vectors[n:]).sum(dim=1) * max_share
    if vectors.is_cuda:
        return _mine_on_device(vectors, same_meaning, limits, either_side=either_side)
    leading &= max_share is None and vectors.shape[1] >= _LEAST_DIMENSIONS and n >= _LEAST_PAIRS
    searched, columns = (_leading(vectors, workers), _LEADING_COLUMNS) if leading else (vectors, _COLUMNS)
    found = _search(searched, columns, same_meaning, limits.numpy(), workers, either_side)
    if leading:
        return _reranked(vectors.numpy(), found, workers)
    # If several sentences are equally similar, the first one is taken.
    return np.concatenate([places[values.argmax(axis=0), np.arange(n)] for values, places in found])


def _search(
    vectors: Tensor,
    columns: int,
    same_meaning: SameMeaning,
    limits: Float32,
    workers: Workers,
    either_side: bool,
) -> list[Found]:
    """The most similar sentence of each block of the similarity matrix, [blocks, n], for either side.

    First come those of the other side, which are in blocks of columns for a source and of rows for a target,
    and then, if they are searched, those of the sentence's own side, in blocks of columns.
    """
    n = len(vectors) // 2
    sides = vectors[:n], vectors[n:]
    row_blocks = _blocks(n, max(1, min(_ROWS, -(-n // 8))))
    column_blocks = _blocks(n, columns)
    n_own = len(column_blocks) if either_side else 0
    found = [nothing_found(len(blocks) + n_own, n) for blocks in (column_blocks, row_blocks)]

    def search(thread: int) -> None:
        for number in range(thread, len(row_blocks), workers.size):
            rows = row_blocks[number]
            for place, block in enumerate(column_blocks):
                # One product serves both directions, along rows and along columns.
                compared = [(0, 1, _of_block(found[0], place), _of_block(found[1], number))]
                if either_side:
                    own = place - n_own
                    compared += [
                        (side, side, _of_block(found[side], own), nothing_found(0)) for side in (0, 1)
                    ]
                for left, right, of_rows, of_columns in compared:
                    similarity = (sides[left][rows] @ sides[right][block].T).numpy()
                    at = rows.start, block.start, right * n
                    scan(similarity, *at, same_meaning, limits, of_rows, of_columns)

    workers.run(search)
    return found


def _of_block(found: Found, block: int) -> Found:
    return found[0][block], found[1][block]


def _reranked(vectors: Float32, found: list[Found], workers: Workers) -> Int64:
    """The best of the most similar sentences of the blocks by their exact similarities."""
    n = len(vectors) // 2
    negatives = np.empty(2 * n, np.int64)

    def rank(thread: int) -> None:
        start, stop = n * thread // workers.size, n * (thread + 1) // workers.size
        for side in (0, 1):
            rerank(vectors, side * n, start, stop, _CANDIDATES, found[side], negatives)

    workers.run(rank)
    return negatives


def _leading(vectors: Tensor, workers: Workers) -> Tensor:
    """The vectors, [m, dim], in the directions in which a sample of them is longest: [m, share of dim].

    The directions are found by subspace iteration (Halko et al. 2011, algorithm 4.4, without the steps
    between).
    """
    dim = vectors.shape[1]
    sample = vectors[:: -(-len(vectors) // _SAMPLE)].contiguous()
    basis = sample[: max(_FEWEST, int(dim * _SHARE))].T.contiguous()
    for _ in range(_ITERATIONS):
        basis = _product(sample.T, _product(sample, basis, workers), workers)
        # Only directions count, and powers grow fast.
        basis /= basis.norm(dim=0).clamp_min(torch.finfo(torch.float32).tiny)
    return _product(vectors, torch.linalg.qr(basis)[0], workers)


def _product(first: Tensor, second: Tensor, workers: Workers) -> Tensor:
    """The product of two matrices, whose digits do not depend on the number of threads."""
    product = torch.empty((len(first), second.shape[1]))
    parts = _blocks(len(first), _PART)

    def multiply(thread: int) -> None:
        for part in parts[thread :: workers.size]:
            torch.matmul(first[part], second, out=product[part])

    workers.run(multiply)
    return product


def _blocks(n: int, size: int) -> list[slice]:
    return [slice(start, min(n, start + size)) for start in range(0, n, size)]


def _mine_on_device(
    vectors: Tensor, same_meaning: SameMeaning, limits: Tensor, *, either_side: bool
) -> Int64:
    """Compare all sentences by torch's operations, on the device of `vectors`.

    Without limits, they are compared in bfloat16, and the most similar ones exactly.
    """
    n, device, short = len(vectors) // 2, vectors.device, bool(limits.isinf().all())
    kind = torch.bfloat16 if short else vectors.dtype
    pairs, offsets = (torch.from_numpy(array).to(device).long() for array in same_meaning)
    negatives = []
    for side in (0, 1):
        own, other = vectors.split(n)[:: 1 - 2 * side]
        candidates = torch.cat([other, own]) if either_side else other
        # The indices of the candidates in `vectors`.
        places = torch.arange(2 * n, device=device).roll(-n if side == 0 else 0)
        for block in _blocks(n, _DEVICE_ROWS):
            similarity = own[block].to(kind) @ candidates.T.to(kind)
            ends = offsets[block.start : block.stop + 1]
            rows = torch.repeat_interleave(ends.diff())
            for part in similarity.split(n, dim=1):
                part[rows, pairs[ends[0] : ends[-1]]] = -torch.inf
                part.masked_fill_(part > limits[block, None], -torch.inf)
            highest, found = similarity.topk(min(_CANDIDATES if short else 1, similarity.shape[1]), dim=1)
            if short:
                # Of equal ones, the first wins, as far as they are among the candidates.
                found, order = found.sort(dim=1)
                highest = highest.gather(1, order)
                exact = (candidates[found] @ own[block, :, None])[..., 0]
                best = exact.masked_fill(highest == -torch.inf, -torch.inf).argmax(dim=1, keepdim=True)
                highest, found = highest.gather(1, best), found.gather(1, best)
            masked = highest[:, 0] == -torch.inf
            negatives.append(torch.where(masked, NO_NEGATIVE, places[found[:, 0]]))
    return torch.cat(negatives).cpu().numpy()
