"""Bounds on cosines that are fast to compute and rule out most pairs of vectors."""

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Float32, Float64, Int8, Int32
from paraphrastic.base.jit import has_8_bit_products
from paraphrastic.neighbours.kernels import Entries, encode, normalize, reach

# Rounding unit of single precision: half the distance between 1 and the next number.
_UNIT = 2.0**-24
# Sizes of the samples: rows, columns to compare them with, and vectors to find leading dimensions from.
_ROWS, _COLUMNS, _FITTED = 64, 2048, 4096
# Nanoseconds on one core: per multiplication in single precision and in 8 bits, per exact cosine, and per
# dimension of an exact cosine.
_PRODUCT, _PRODUCT_IN_8_BITS, _COSINE, _DIMENSION = 0.02, 0.01, 30.0, 0.35
# Number of multiplications from which 8 bits pay, if torch, which multiplies them, is loaded, and if not.
_IN_8_BITS, _IN_8_BITS_WITH_IMPORT = 1e9, 2e11
# Finding leading dimensions takes this many nanoseconds, times the cube of the number of dimensions.
_LOOKING = 1.0
# Shares of the dimensions that a bound may keep.
_SHARES = (1 / 16, 3 / 32, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2)


class Bound:
    """Turns vectors into others whose product, plus `slack`, is never below their cosine.

    Without a basis, these are unit vectors, whose product differs from the cosine only by rounding. With a
    basis, they have the unit vectors' leading dimensions and one more entry, the length of the rest. The
    rests of two vectors add at most the product of their lengths to the cosine (Cauchy and Schwarz). These
    shorter vectors are faster to multiply and still rule out most pairs.

    Attributes:
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

    def empty(self, n: int) -> npt.NDArray[Any]:
        """Allocate memory for n vectors."""
        return np.empty((n, self.width), np.float32)

    def multiply(self, rows: npt.NDArray[Any], columns: npt.NDArray[Any], out: Float32) -> None:
        """Write the products of all rows, [n], and all columns, [m], to `out`, [n, m]."""
        np.matmul(rows, columns.T, out=out)

    def vectors(
        self, entries: Entries, norms: Float64 | None = None, out: Float32 | None = None
    ) -> npt.NDArray[Any]:
        """Return the vectors to multiply, [n], in the form that `empty` allocates.

        Args:
            entries: [n, dim], vectors of any length.
            norms: [n], overwritten with the vectors' norms.
            out: [at least n, dim], memory for unit vectors, which are the result if there is no basis.
        """
        norms = np.empty(len(entries)) if norms is None else norms
        units = np.empty(entries.shape, np.float32) if out is None else out[: len(entries)]
        normalize(entries, norms, units)
        if self._basis is None:
            return units
        shortened = np.empty((len(units), self.width), np.float32)
        kept = np.matmul(units, self._basis, out=shortened[:, :-1])
        left = (norms > 0) - np.einsum("np,np->n", kept, kept, dtype=np.float64)
        shortened[:, -1] = np.where(norms > 0, np.sqrt(np.maximum(left, 0) + 3 * self._kept_error), 0)
        return shortened


class IntegerBound(Bound):
    """Unit vectors rounded to 8-bit integers, which are fast to multiply on processors with VNNI.

    A vector is its codes times a scale, plus an error whose length is known. The most that the errors can add
    to a cosine (Cauchy and Schwarz) is added to the scaled product of the codes.
    """

    def __init__(self, dim: int) -> None:
        super().__init__(dim)
        # Scales, errors and the sum of their products are each rounded a few times.
        self.slack = 32 * _UNIT
        self._kind = np.dtype([("codes", np.int8, (dim,)), ("scale", np.float32), ("error", np.float32)])

    def empty(self, n: int) -> npt.NDArray[Any]:
        """Allocate memory for n vectors."""
        return np.empty(n, self._kind)

    def multiply(self, rows: npt.NDArray[Any], columns: npt.NDArray[Any], out: Float32) -> None:
        """Write upper bounds on the cosines of all rows, [n], and all columns, [m], to `out`, [n, m]."""
        products = _integer_products(rows["codes"], columns["codes"])
        scales, errors = columns["scale"].copy(), columns["error"].copy()
        reach(products, rows["scale"], rows["error"], scales, errors, out)

    def vectors(
        self, entries: Entries, norms: Float64 | None = None, out: Float32 | None = None
    ) -> npt.NDArray[Any]:
        """Return the vectors to multiply, [n], in the form that `empty` allocates; see `Bound.vectors`."""
        units, encoded = super().vectors(entries, norms, out), self.empty(len(entries))
        encode(units, encoded["codes"], encoded["scale"], encoded["error"])
        return encoded


def _integer_products(rows: Int8, columns: Int8) -> Int32:
    """Return the products of all rows, [n, dim], and all columns, [m, dim]: int32 [n, m]."""
    import torch

    return torch._int_mm(torch.from_numpy(rows), torch.from_numpy(columns).t()).numpy()


def whole_bound(dim: int, pairs: float) -> Bound:
    """Choose the fastest bound that keeps all dimensions, given the number of pairs to compare."""
    if _pays_in_8_bits(dim, pairs):
        largest = np.full((16, dim), 127, np.int8)
        # Some processors limit the sum of two products to 16 bits.
        if (_integer_products(largest, largest) == dim * 127**2).all():
            return IntegerBound(dim)
    return Bound(dim)


def _pays_in_8_bits(dim: int, pairs: float) -> bool:
    least = _IN_8_BITS if "torch" in sys.modules else _IN_8_BITS_WITH_IMPORT
    return pairs * dim >= least and has_8_bit_products()


def bound_for_threshold(x: Entries, threshold: float) -> Bound:
    """Choose the fastest bound for finding the pairs in `x`, [n, dim], whose cosine reaches a threshold.

    A sample decides how many leading dimensions to keep, if any are left out: with fewer of them, products
    are faster, but more pairs need an exact cosine. A high threshold needs few. For nearest neighbours, whose
    cosines are often low, leading dimensions have not been faster.
    """
    n, dim = x.shape
    pairs = n**2 / 2
    lowest_cost = dim * (_PRODUCT_IN_8_BITS if _pays_in_8_bits(dim, pairs) else _PRODUCT)
    order = np.random.default_rng(0).choice(n, min(n, _ROWS + _COLUMNS + _FITTED), replace=False)
    # One draw is split, so that no vector is compared with itself. Dimensions fitted to the vectors that they
    # are tried on would look better than they are.
    rows, columns, fitted = (x[part] for part in np.split(order, [_ROWS, _ROWS + _COLUMNS]))
    best = None
    if len(fitted) >= 2 * dim and pairs * lowest_cost >= 2 * _LOOKING * dim**3:
        units = Bound(dim).vectors(fitted)
        leading = np.linalg.eigh((units.T @ units).astype(np.float64))[1][:, ::-1]
        for kept in sorted({max(1, round(dim * part)) for part in _SHARES}):
            bound = Bound(dim, np.ascontiguousarray(leading[:, :kept], np.float32))
            possible = bound.vectors(rows) @ bound.vectors(columns).T + bound.slack >= threshold
            cost = _PRODUCT * (bound.width + dim * kept * n / pairs) + float(possible.mean()) * (
                _COSINE + _DIMENSION * dim
            )
            if cost < lowest_cost:
                best, lowest_cost = bound, cost
    return best or whole_bound(dim, pairs)
