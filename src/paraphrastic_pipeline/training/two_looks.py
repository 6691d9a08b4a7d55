"""The search for negatives in two looks, for processors without instructions for short numbers.

Vectors of sentences lie near a subspace of few dimensions. So a first look at an eighth of the dimensions,
those in which the vectors of the mega-batch are longest, finds candidates, and the second look computes their
exact similarities.
"""

import numpy as np
import torch
from torch import Tensor

from paraphrastic.base.arrays import Int64
from paraphrastic_pipeline.training.negative_kernels import Barred, scan, second_look
from paraphrastic_pipeline.training.negative_search import NO_NEGATIVE
from paraphrastic_pipeline.training.threads import Workers

# The first look is at this share of the dimensions, and at so many at least. It finds the nearest sentence of
# each block of rows or columns, of which the second look compares the best.
_SHARE, _FEWEST = 1 / 8, 96
_ROWS, _COLUMNS = 256, 128
_CANDIDATES = 8
# Vectors that the leading dimensions are found from, and how often their covariance is applied.
_SAMPLE, _ITERATIONS = 2048, 2
# Below these sizes, a single exact look is faster.
_LEAST_DIMENSIONS, _LEAST_PAIRS = 256, 2048
# Rows that a thread multiplies at once.
_PART = 512


def two_looks_pay(vectors: Tensor) -> bool:
    """Whether two looks are faster than one for these vectors, [2n, dim]."""
    return vectors.shape[1] >= _LEAST_DIMENSIONS and len(vectors) // 2 >= _LEAST_PAIRS


def search_in_two_looks(vectors: Tensor, barred: Barred, workers: Workers, *, either_side: bool) -> Int64:
    """Do what `hardest_negatives` does; a negative is sometimes not the nearest but one of the next ones.

    Args:
        vectors: float32 [2n, dim] of unit length; the n sources, then their targets.
        barred: the pairs that are left out, without limits: all candidates of a first look might be above
            them.
        workers: the threads; their number does not change the result.
        either_side: search all sentences, not only those of the other side.
    """
    n = len(vectors) // 2
    leading = _leading(vectors, workers)
    sides = leading[:n], leading[n:]
    rows, columns = _blocks(n, _ROWS), _blocks(n, _COLUMNS)
    lowest = np.float32(-np.inf)
    # For each sentence, the best one of each block: of columns for a source, and of rows for a target. For
    # those of its own side, always of columns.
    values = [np.full((len(blocks), n), lowest) for blocks in (columns, rows)]
    places = [np.full(found.shape, NO_NEGATIVE, np.int64) for found in values]
    own = [np.full((len(columns), n), lowest) for _ in sides if either_side]
    own_places = [np.full(found.shape, NO_NEGATIVE, np.int64) for found in own]
    nothing = np.empty(0, np.float32), np.empty(0, np.int64)

    def first(thread: int) -> None:
        for number in range(thread, len(rows), workers.size):
            start = rows[number].start
            for place, block in enumerate(columns):
                similarity = (sides[0][rows[number]] @ sides[1][block].T).numpy()
                by_row = values[0][place], places[0][place]
                by_column = values[1][number], places[1][number]
                scan(similarity, lowest, start, block.start, n, barred, by_row, by_column)
                for side in range(len(own)):
                    similarity = (sides[side][rows[number]] @ sides[side][block].T).numpy()
                    best = own[side][place], own_places[side][place]
                    scan(similarity, lowest, start, block.start, side * n, barred, best, nothing)

    workers.run(first)
    negatives = np.empty(2 * n, np.int64)
    exact = vectors.numpy()

    def second(thread: int) -> None:
        edges = np.linspace(0, n, workers.size + 1).astype(np.int64)
        for side in (0, 1):
            more = (own[side], own_places[side]) if own else (values[side][:0], places[side][:0])
            second_look(
                exact, side * n, edges[thread], edges[thread + 1], _CANDIDATES,
                values[side], places[side], *more, negatives,
            )  # fmt: skip

    workers.run(second)
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
