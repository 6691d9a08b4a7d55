"""Mine negatives in the leading dimensions first, and re-rank the best candidates exactly.

Vectors of sentences lie near a subspace of few dimensions. An eighth of the dimensions, those in which the
vectors of the mega-batch are longest, therefore suffices to find candidates; then their exact similarities
are compared.
"""

import numpy as np
import torch
from torch import Tensor

from paraphrastic.base.arrays import Int64
from paraphrastic_pipeline.training.mining_kernels import Found, nothing_found, rerank, scan
from paraphrastic_pipeline.training.same_meaning import SameMeaning
from paraphrastic_pipeline.training.threads import Workers

# Below these sizes, an exact search is faster.
LEAST_DIMENSIONS, LEAST_PAIRS = 256, 2048
# The search is in this share of the dimensions, and in so many at least. It finds the nearest sentence of
# each block of rows or columns, of which the best are re-ranked.
_SHARE, _FEWEST = 1 / 8, 96
_ROWS, _COLUMNS = 256, 128
_CANDIDATES = 8
# Vectors that the leading dimensions are found from, and how often their covariance is applied.
_SAMPLE, _ITERATIONS = 2048, 2
# Rows that a thread multiplies at once.
_PART = 512


def mine_by_leading(
    vectors: Tensor, same_meaning: SameMeaning, workers: Workers, *, either_side: bool
) -> Int64:
    """Do what `mining.mine` does; a negative is sometimes not the nearest but one of the next ones."""
    n = len(vectors) // 2
    leading = _leading(vectors, workers)
    sides = leading[:n], leading[n:]
    rows, columns = _blocks(n, _ROWS), _blocks(n, _COLUMNS)
    no_limits = np.empty(0, np.float32)
    # For each sentence, the best one of each block: of columns for a source, and of rows for a target. For
    # those of its own side, always of columns.
    other = [nothing_found(len(blocks), n) for blocks in (columns, rows)]
    own = [nothing_found(len(columns) if either_side else 0, n) for _ in sides]

    def search(thread: int) -> None:
        for number in range(thread, len(rows), workers.size):
            start = rows[number].start
            for place, block in enumerate(columns):
                compared = [(0, 1, _of(other[0], place), _of(other[1], number))]
                if either_side:
                    compared += [(side, side, _of(own[side], place), nothing_found(0)) for side in (0, 1)]
                for left, right, of_rows, of_columns in compared:
                    similarity = (sides[left][rows[number]] @ sides[right][block].T).numpy()
                    offset = right * n
                    scan(similarity, start, block.start, offset, same_meaning, no_limits, of_rows, of_columns)

    workers.run(search)
    negatives = np.empty(2 * n, np.int64)

    def rank(thread: int) -> None:
        start, stop = n * thread // workers.size, n * (thread + 1) // workers.size
        for side in (0, 1):
            rerank(vectors.numpy(), side * n, start, stop, _CANDIDATES, *other[side], *own[side], negatives)

    workers.run(rank)
    return negatives


def _of(found: Found, block: int) -> Found:
    return found[0][block], found[1][block]


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
