"""Bounds on cosines that are fast to compute and rule out most pairs of vectors."""

import numpy as np

from paraphrastic.base.arrays import Float32, Float64
from paraphrastic.neighbours.kernels import normalize
from paraphrastic.neighbours.parts import multiply

# Rounding unit of single precision: half the distance between 1 and the next number.
_UNIT = 2.0**-24
# Sizes of the samples: rows, columns to compare them with, and vectors to find leading dimensions from.
_ROWS, _COLUMNS, _FITTED = 64, 2048, 4096
# Nanoseconds on one core: per multiplication, per exact cosine, and per dimension of an exact cosine.
_PRODUCT, _COSINE, _DIMENSION = 0.02, 30.0, 0.35
# Shares of the dimensions that a bound may keep.
_SHARES = (1 / 16, 3 / 32, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2)


class Bound:
    """Turns vectors into others whose product, plus `slack`, is never below their cosine.

    Without a basis, these are unit vectors, whose product differs from the cosine only by rounding. With a
    basis, they have the unit vectors' leading dimensions and one more entry, the length of the rest. The
    rests of two vectors add at most the product of their lengths to the cosine (Cauchy and Schwarz). These
    shorter vectors are faster to multiply and still rule out most pairs.

    Attributes:
        width: numbers per vector.
        slack: the most that rounding can take from a product. A sum of n products of unit vectors' entries
            is off by at most n rounding units in any order (Higham 2002, section 3.1), and each vector has
            been rounded before.
    """

    def __init__(self, dim: int, basis: Float32 | None = None) -> None:
        self._basis = basis
        self.width = dim if basis is None else basis.shape[1] + 1
        self.slack = (self.width + 8) * _UNIT
        self._kept_error = 0.0
        if basis is not None:
            # The largest error of a unit vector's kept dimensions. It counts three times: for each of the
            # two vectors, and for the length of the rest.
            self._kept_error = (dim + 8) * _UNIT * basis.shape[1] ** 0.5
            self.slack += 3 * self._kept_error
        # Room for errors of higher order.
        self.slack *= 1.1

    def vectors(self, entries: Float32) -> tuple[Float32, Float64]:
        """Return the vectors to multiply, [n, width], of vectors of any length, [n, dim], and their norms."""
        norms, units = np.empty(len(entries)), np.empty(entries.shape, np.float32)
        normalize(entries, norms, units)
        if self._basis is None:
            return units, norms
        shortened = np.empty((len(units), self.width), np.float32)
        kept = multiply(units, self._basis, shortened[:, :-1])
        left = (norms > 0) - np.einsum("np,np->n", kept, kept, dtype=np.float64)
        shortened[:, -1] = np.where(norms > 0, np.sqrt(np.maximum(left, 0) + 3 * self._kept_error), 0)
        return shortened, norms


def bound_for_threshold(x: Float32, threshold: float) -> Bound:
    """Choose the fastest bound for finding the pairs in `x`, [n, dim], whose cosine reaches a threshold.

    A sample decides how many leading dimensions to keep: with fewer of them, products are faster, but more
    pairs need an exact cosine. For nearest neighbours, whose cosines are low, they have not been faster.
    """
    n, dim = x.shape
    pairs = n**2 / 2
    order = np.random.default_rng(0).choice(n, min(n, _ROWS + _COLUMNS + _FITTED), replace=False)
    # One draw is split, so that no vector is compared with itself. Dimensions fitted to the vectors that they
    # are tried on would look better than they are.
    rows, columns, fitted = (x[part] for part in np.split(order, [_ROWS, _ROWS + _COLUMNS]))
    best, lowest_cost = Bound(dim), dim * _PRODUCT
    # Finding leading dimensions takes about as many nanoseconds as the cube of their number.
    if len(fitted) <= 2 * dim or pairs * lowest_cost < 2 * dim**3:
        return best
    units, _ = best.vectors(fitted)
    leading = np.linalg.eigh((units.T @ units).astype(np.float64))[1][:, ::-1]
    for kept in sorted({max(1, round(dim * part)) for part in _SHARES}):
        bound = Bound(dim, np.ascontiguousarray(leading[:, :kept], np.float32))
        possible = bound.vectors(rows)[0] @ bound.vectors(columns)[0].T + bound.slack >= threshold
        exact = float(possible.mean()) * (_COSINE + _DIMENSION * dim)
        cost = _PRODUCT * (bound.width + dim * kept * n / pairs) + exact
        if cost < lowest_cost:
            best, lowest_cost = bound, cost
    return best
