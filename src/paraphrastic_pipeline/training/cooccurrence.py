"""Initial embeddings from the pieces that occur together in pairs of sentences."""

import numpy as np
import scipy.sparse
import torch
from threadpoolctl import threadpool_limits

from paraphrastic.base.arrays import Float32, Float64
from paraphrastic_pipeline.training.dataset import PAIRS_PER_BLOCK
from paraphrastic_pipeline.training.encoder_modules import AveragedEmbeddings, TrainableEncoder
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.threads import product

# Pairs that are counted; training data are in random order, so the first ones are a sample.
_PAIRS = 2_000_000
# Columns that are computed, since the time grows with their number; the others stay random.
_RANK = 1024
# Contexts are counted with this power of their frequency, which weakens rare ones (Levy et al. 2015).
_CONTEXT_POWER = 0.75
# How often the matrix is applied to the space in which eigenvectors are sought, and the dimensions that this
# space has besides.
_ITERATIONS, _MORE = 4, 20
# Rows without any co-occurrence have shorter vectors than this.
_TINY = 1e-6


def initialize_from_cooccurrences(
    encoder: TrainableEncoder, pairs: PairDataset, *, seed: int, threads: int
) -> None:
    """Set the embeddings of averaged parts from co-occurrences, in place.

    The dot product of two rows' vectors is near the positive pointwise mutual information of their
    occurrences on the two sides of a pair (Levy et al. 2015, *Improving Distributional Similarity with
    Lessons Learned from Word Embeddings*). So words that translate or paraphrase each other begin with
    similar vectors. The mean length of the embeddings remains. Rows that occur in no pair stay random, and so
    do columns beyond the first 1,024. LSTMs are left alone.
    """
    for part, unit in zip(encoder.parts, encoder.inputs, strict=True):
        if isinstance(part, AveragedEmbeddings):
            table = part.table.data
            rank = min(table.shape[1], _RANK)
            vectors = cooccurrence_vectors(pairs, unit, rank, seed=seed, threads=threads)
            lengths, columns = np.linalg.norm(vectors, axis=1), vectors.shape[1]
            met = np.flatnonzero(lengths > _TINY)
            length = float(table[:, :columns].norm(dim=1).mean())
            rows = torch.from_numpy(met)
            table[rows, :columns] = torch.from_numpy(vectors[met] * (length / lengths[met, None]))


def cooccurrence_vectors(
    pairs: PairDataset, unit: int, dimension: int, *, seed: int, threads: int
) -> Float32:
    """Vectors of the rows of a unit's table, float32 [rows, `dimension` or fewer].

    They are the same for any number of threads.
    """
    matrix = _counts(pairs, unit)
    of_row = np.asarray(matrix.sum(axis=1), np.float64).ravel()
    contexts = of_row**_CONTEXT_POWER / max((of_row**_CONTEXT_POWER).sum(), _TINY)
    # What is expected of two rows is the geometric mean over both roles, row and context. So the matrix is
    # symmetric, and what is expected is a product of two numbers, one of each row.
    expected = np.sqrt(of_row * contexts).astype(np.float32)
    matrix.data /= np.repeat(expected, np.diff(matrix.indptr))
    matrix.data /= expected[matrix.indices]
    np.maximum(np.log(matrix.data, out=matrix.data), 0.0, out=matrix.data)
    matrix.eliminate_zeros()
    rank = min(dimension, matrix.shape[0] - 1)
    if not matrix.nnz:
        return np.zeros((matrix.shape[0], rank), np.float32)
    values, vectors = largest_eigenvectors(matrix, rank, seed=seed, threads=threads)
    # Negative eigenvalues belong to pieces that occur together less than their contexts would suggest.
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), np.float32)


def largest_eigenvectors(
    matrix: scipy.sparse.csr_matrix, rank: int, *, seed: int, threads: int
) -> tuple[Float64, Float32]:
    """The largest eigenvalues of a symmetric matrix, [`rank`], and their eigenvectors, [rows, `rank`].

    They are found by subspace iteration (Halko et al. 2011, algorithm 4.4). A singular value decomposition
    would not do: pairs of two languages have a negative eigenvalue for each positive one, with the same
    singular value. Therefore, the space has twice as many dimensions.
    """
    size = min(2 * rank + _MORE, matrix.shape[0])
    basis = np.random.default_rng(seed).standard_normal((matrix.shape[0], size), dtype=np.float32)
    # The order in which threads add numbers up would change the last digits.
    with threadpool_limits(1):
        for _ in range(_ITERATIONS):
            basis = np.linalg.qr(product(matrix, basis, threads))[0]
        values, within = np.linalg.eigh(basis.T @ product(matrix, basis, threads))
        return values[-rank:], basis @ within[:, -rank:]


def _counts(pairs: PairDataset, unit: int) -> scipy.sparse.csr_matrix:
    """How often two rows occur on the two sides of a pair, in both directions: float32 [rows, rows].

    A pair counts less for each of its pieces, the more there are, by the square root on either side.
    """
    rows, step = pairs.units[unit].n_rows, 32 * PAIRS_PER_BLOCK
    counts = scipy.sparse.csr_matrix((rows, rows), dtype=np.float32)
    for start in range(0, min(len(pairs), _PAIRS), step):
        read = pairs.read(start, min(start + step, len(pairs)))
        source, target = (_occurrences([side, *side.others][unit], rows) for side in read)
        counts += source.T @ target
    return (counts + counts.T).tocsr()


def _occurrences(sentences: Sentences, rows: int) -> scipy.sparse.csr_matrix:
    """Which rows each sentence has, float32 [sentences, rows], each sentence of unit length."""
    ones = np.ones(len(sentences.tokens), np.float32)
    matrix = scipy.sparse.csr_matrix(
        (ones, sentences.tokens, sentences.offsets), shape=(len(sentences), rows)
    )
    matrix.sum_duplicates()
    distinct = np.diff(matrix.indptr)
    matrix.data[:] = 1.0 / np.sqrt(np.repeat(distinct, distinct))
    return matrix
