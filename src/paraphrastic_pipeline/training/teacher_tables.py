"""Tables that begin as what a teacher knows (`training.init: teacher`).

The mean of a sentence's rows is to be near the teacher's vector of the sentence. Ridge regression on a sample
of the training sentences finds such rows. It holds them to the teacher's vectors of the pieces by themselves,
which are all that is known of pieces that the sample does not have, and which are the tokens' vectors in
model2vec (Tulkens and van Dongen 2024).
"""

from pathlib import Path

import h5py
import numpy as np
import scipy.sparse
import torch
from threadpoolctl import threadpool_limits

from paraphrastic.base.arrays import Float32
from paraphrastic.base.threads import in_order
from paraphrastic_pipeline.training.encoder_modules import AveragedEmbeddings, TrainableEncoder
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.sentences import Sentences

# The weight of the ridge (docs/recipe.md has the measurements).
_RIDGE = 0.2
# Steps of conjugate gradients at most, and the residual at which they end, as a share of the right-hand side.
_STEPS, _REST = 40, 1e-3
# Sentences whose vectors decide in which directions tables are rotated.
_SENTENCES = 65_536
# How many times as long embeddings are as they would be at random, so that steps change them less.
_LENGTH = 4.0
# Rows that are shorter than this share of the mean say nothing, and columns that a teacher does not have are
# multiplied by this.
_SHORTEST, _BEYOND = 1e-3, 0.1
_TINY = 1e-12
# Rows of a matrix that a thread multiplies at a time.
_ROWS = 2048


def ridge(bags: scipy.sparse.csr_matrix, targets: Float32, prior: Float32, *, threads: int) -> Float32:
    """The table W that minimizes ‖BW − Y‖² + λ‖W − P‖², float32 [rows, dim].

    Each column is found by the method of conjugate gradients, with the diagonal as its preconditioner
    (Hestenes and Stiefel 1952).

    Args:
        bags: the matrix B of the sentences' bags of rows, [sentences, rows].
        targets: the teacher's vectors Y of the sentences, [sentences, dim].
        prior: the vectors P, [rows, dim], which W begins with.
        threads: number of threads, on which the result does not depend.
    """
    transposed = bags.T.tocsr()

    def times(columns: Float32) -> Float32:
        return product(transposed, product(bags, columns, threads), threads) + np.float32(_RIDGE) * columns

    diagonal = np.asarray(bags.multiply(bags).sum(axis=0), np.float32).ravel() + np.float32(_RIDGE)
    right = product(transposed, targets, threads) + np.float32(_RIDGE) * prior
    table = prior.copy()
    rest = right - times(table)
    direction = rest / diagonal[:, None]
    length = _dots(rest, direction)
    enough = _REST**2 * _dots(right, right).sum()
    for _ in range(_STEPS):
        if _dots(rest, rest).sum() <= enough:
            break
        moved = times(direction)
        step = length / np.maximum(_dots(direction, moved), _TINY)
        table += step * direction
        rest -= step * moved
        scaled = rest / diagonal[:, None]
        before, length = length, _dots(rest, scaled)
        direction = scaled + length / np.maximum(before, _TINY) * direction
    return table


def _dots(one: Float32, other: Float32) -> Float32:
    """The dot product of each column with the same one of another matrix."""
    return np.einsum("ij,ij->j", one, other)


def product(matrix: scipy.sparse.csr_matrix, block: Float32, threads: int) -> Float32:
    """The product of a sparse matrix with a dense block, which threads compute by rows."""
    starts = range(0, matrix.shape[0], _ROWS)
    parts = in_order(lambda start: matrix[start : start + _ROWS] @ block, starts, threads)
    return np.concatenate(list(parts))


def bags_of_rows(sentences: Sentences, rows: int) -> scipy.sparse.csr_matrix:
    """How often each sentence has each row, by the root of its length: float32 [sentences, rows]."""
    weights = np.repeat(1 / np.sqrt(np.maximum(sentences.lengths, 1)), sentences.lengths)
    bags = scipy.sparse.csr_matrix(
        (weights.astype(np.float32), sentences.tokens, sentences.offsets), shape=(len(sentences), rows)
    )
    bags.sum_duplicates()
    return bags


def rotated(table: Float32, bags: scipy.sparse.csr_matrix) -> Float32:
    """The table, rotated to the principal directions of the sentences' unit vectors, the longest first."""
    vectors = bags[:_SENTENCES] @ table
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _TINY)
    # The order in which threads add numbers up would change the last digits.
    with threadpool_limits(1):
        return table @ principal_directions(vectors)


def principal_directions(vectors: Float32) -> Float32:
    """The principal directions of vectors, without centring, float32 [dim, dim], the longest first."""
    _, directions = np.linalg.eigh((vectors.T @ vectors).astype(np.float64))
    longest: Float32 = directions[:, ::-1].astype(np.float32)
    # A direction and its opposite are equally good, so that of its largest entry is taken.
    largest = np.take_along_axis(longest, np.abs(longest).argmax(axis=0)[None], axis=0)
    return longest * np.sign(largest)


def initialize_from_tables(encoder: TrainableEncoder, pairs: PairDataset, tables: Path) -> None:
    """Set the embeddings of averaged parts from a teacher's tables, in place; LSTMs are left alone.

    Embeddings differ in length, since that says how much a piece counts. Rows about which the teacher says
    nothing stay random. Columns beyond the teacher's dimension are random, and short.
    """
    with h5py.File(tables, "r") as file:
        fitted = [file[unit.unit][:] for unit in pairs.units]
    for part, unit in zip(encoder.parts, encoder.inputs, strict=True):
        if isinstance(part, AveragedEmbeddings):
            table, known = part.table.data, torch.from_numpy(fitted[unit])
            columns = min(known.shape[1], table.shape[1])
            lengths = known[:, :columns].norm(dim=1)
            met = lengths > _SHORTEST * lengths.mean()
            scale = _LENGTH * table.norm(dim=1).mean() / lengths[met].mean()
            table[met, :columns] = known[met, :columns] * scale
            table[met, columns:] *= _BEYOND
