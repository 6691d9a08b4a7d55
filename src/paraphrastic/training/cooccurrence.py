"""Initial embeddings from the pieces that occur together in pairs of sentences."""

import numpy as np
import scipy.sparse
import torch
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits

from paraphrastic.base.arrays import Float32
from paraphrastic.training.dataset import PAIRS_PER_BLOCK, PairDataset
from paraphrastic.training.encoder import AveragedEmbeddings, TrainableEncoder
from paraphrastic.training.sentences import Sentences

# Pairs that are counted; training data are in random order, so the first ones are a sample.
_PAIRS = 2_000_000
# Columns that are computed, since the time grows with their number; the others stay random.
_RANK = 300
# Contexts are counted with this power of their frequency, which weakens rare ones (Levy et al. 2015).
_CONTEXT_POWER = 0.75
# Accuracy of the eigenvalues; a beginning need not be exact.
_TOLERANCE = 1e-2
# Rows without any co-occurrence have shorter vectors than this.
_TINY = 1e-6


def start_from_cooccurrences(encoder: TrainableEncoder, pairs: PairDataset, *, seed: int) -> None:
    """Set the embeddings of averaged parts from co-occurrences, in place.

    The dot product of two rows' vectors is near the positive pointwise mutual information of their
    occurrences on the two sides of a pair (Levy et al. 2015, *Improving Distributional Similarity with
    Lessons Learned from Word Embeddings*). So words that translate or paraphrase each other begin with
    similar vectors. The mean length of the embeddings remains. Rows that occur in no pair stay random, and so
    do columns beyond the first 300. LSTMs are left alone.
    """
    for part, unit in zip(encoder.parts, encoder.inputs, strict=True):
        if isinstance(part, AveragedEmbeddings):
            table = part.table.data
            vectors = cooccurrence_vectors(pairs, unit, min(table.shape[1], _RANK), seed=seed)
            lengths, columns = np.linalg.norm(vectors, axis=1), vectors.shape[1]
            met = np.flatnonzero(lengths > _TINY)
            length = float(table[:, :columns].norm(dim=1).mean())
            rows = torch.from_numpy(met)
            table[rows, :columns] = torch.from_numpy(vectors[met] * (length / lengths[met, None]))


def cooccurrence_vectors(pairs: PairDataset, unit: int, dimension: int, *, seed: int) -> Float32:
    """Vectors of the rows of a unit's table, float32 [rows, `dimension` or fewer]."""
    counts = _counts(pairs, unit).tocoo()
    of_row = np.bincount(counts.row, counts.data, minlength=counts.shape[0])
    contexts = of_row**_CONTEXT_POWER / max((of_row**_CONTEXT_POWER).sum(), _TINY)
    # The mean over both roles, row and context, so that the matrix is symmetric.
    one, other = counts.row, counts.col
    expected = np.sqrt(of_row[one] * contexts[other] * of_row[other] * contexts[one])
    information = np.log(counts.data / expected)
    positive = information > 0
    values = information[positive].astype(np.float32)
    matrix = scipy.sparse.csr_matrix((values, (one[positive], other[positive])), shape=counts.shape)
    rank = min(dimension, counts.shape[0] - 1)
    if not len(values):
        return np.zeros((counts.shape[0], rank), np.float32)
    start = np.random.default_rng(seed).random(counts.shape[0], np.float32)
    # The order in which threads add numbers up would change the last digits.
    with threadpool_limits(1):
        eigenvalues, vectors = eigsh(matrix, rank, which="LA", tol=_TOLERANCE, v0=start)
    # Negative eigenvalues belong to pieces that occur together less than their contexts would suggest.
    return np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)), np.float32)


def _counts(pairs: PairDataset, unit: int) -> scipy.sparse.csr_matrix:
    """How often two rows occur on the two sides of a pair, in both directions: float32 [rows, rows].

    A pair counts less for each of its pieces, the more there are, by the square root on either side.
    """
    rows = pairs.units[unit].n_rows
    found = scipy.sparse.csr_matrix((rows, rows), dtype=np.float32)
    step = 32 * PAIRS_PER_BLOCK
    for start in range(0, min(len(pairs), _PAIRS), step):
        source, target = (
            _occurrences([side, *side.others][unit], rows)
            for side in pairs.read(start, min(start + step, len(pairs)))
        )
        found += source.T @ target
    return (found + found.T).tocsr()


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
