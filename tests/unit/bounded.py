"""Bounds with leading dimensions, as no sample would choose them."""

import numpy as np

from paraphrastic.neighbours.bounds import Bound

# Shares of the dimensions that are kept.
SHARES = [1, 0.4]


def basis_of(dim: int, kept: float) -> np.ndarray:
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(dim, dim)))[0]
    return basis[:, : max(1, int(kept * dim))].astype(np.float32)


def bound_of(vectors: np.ndarray, kept: float) -> Bound:
    dim = vectors.shape[1]
    return Bound(dim, None if kept == 1 else basis_of(dim, kept))
