"""Bounds of every kind on the products of vectors, including some that no sample would choose."""

import numpy as np

from paraphrastic.neighbours.bounds import Bound, IntegerBound

# These use all dimensions in single precision, some of the dimensions, and all dimensions in 8 bits.
BOUNDS = ["whole", "leading", "8 bits"]
# Those that searches for nearest neighbours use.
WHOLE = ["whole", "8 bits"]


def basis_of(dim: int, kept: float) -> np.ndarray:
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(dim, dim)))[0]
    return basis[:, : max(1, int(kept * dim))].astype(np.float32)


def bound_of(vectors: np.ndarray, kind: str) -> Bound:
    dim = vectors.shape[1]
    return (
        IntegerBound(dim)
        if kind == "8 bits"
        else Bound(dim, basis_of(dim, 0.4) if kind == "leading" else None)
    )
