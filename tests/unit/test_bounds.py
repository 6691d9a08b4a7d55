"""Test that the products of vectors bound their cosines, and which bound a sample chooses."""

import llvmlite.binding
import numpy as np
import pytest
from bounded import BOUNDS, basis_of, bound_of
from test_nearest import similarities, translated

from paraphrastic.neighbours import bounds
from paraphrastic.neighbours.bounds import Bound, IntegerBound, bound_for_threshold, whole_bound
from paraphrastic.neighbours.vectors import direction_entries


@pytest.mark.parametrize("kind", BOUNDS)
@pytest.mark.parametrize("in_16_bits", [False, True])
def test_products_bound_cosines(kind: str, in_16_bits: bool) -> None:
    x, y = translated(150, 250, 60)
    # The vectors include zero, one with a single entry, one with an entry far larger than the others, and
    # vectors of very different lengths.
    x[3], y[7] = 0, 0
    x[4], y[8] = np.eye(60)[2], np.eye(60)[2]
    x[5, 9], y[9, 9] = 40, -40
    y[10:40] *= np.geomspace(1e-30, 1e30, 30)[:, None]
    y[40:60] = x[40:60]
    # Vectors of zeros and ones lose nothing in 8 bits, so that only rounding is left.
    x[40:100] = y[60:120] = np.tri(60)
    # The basis keeps nothing of this vector, and it keeps so much of the others that their rest, which lies
    # in the same direction, is smaller than rounding.
    basis = basis_of(60, 0.4)
    x[6] = y[6] = x[6] - basis @ (x[6] @ basis)
    kept = y[120:180] @ basis @ basis.T
    rest = np.geomspace(1e-5, 1e-3, 60)[:, None] * x[6] / np.linalg.norm(x[6])
    y[120:180] = kept / np.linalg.norm(kept, axis=1, keepdims=True) + rest
    bound = bound_of(x, kind)
    sides = [direction_entries(side, in_16_bits=in_16_bits) for side in (x, y)]
    products = np.empty((150, 250), np.float32)
    bound.multiply(bound.vectors(sides[0]), bound.vectors(sides[1]), products)
    above = products + bound.slack - similarities(*sides)
    assert above.min() >= 0
    # If all dimensions are kept, products and cosines differ only by rounding.
    assert above.max() < {"whole": 2e-5, "leading": 2, "8 bits": 0.2}[kind]


def test_leading_dimensions_may_be_rounded_as_badly_as_sums_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    dim, worst = 1000, 1000 * 2.0**-24
    bound = Bound(dim, np.eye(dim, 4, dtype=np.float32))
    # Four dimensions are kept, and the rest of both vectors is exactly as large as the error.
    x = np.zeros((2, dim), np.float32)
    x[0, :4], x[1, :4], x[:, 4] = 0.5, -0.5, (4 * worst) ** 0.5

    def rounded(units: np.ndarray, basis: np.ndarray, out: np.ndarray) -> np.ndarray:
        out[:] = units @ basis
        out += worst * np.sign(out)
        return out

    with monkeypatch.context() as patch:
        patch.setattr(np, "matmul", rounded)
        vectors = bound.vectors(x)
    products = np.empty((2, 2), np.float32)
    bound.multiply(vectors, vectors, products)
    assert (products + bound.slack - similarities(x, x)).min() >= 0


def test_the_bound_fits_the_vectors() -> None:
    generator = np.random.default_rng(0)
    flat = generator.normal(size=(20_000, 64)).astype(np.float32)
    assert bound_for_threshold(flat, 0.2).width == 64
    # Here a few dimensions rule out most pairs.
    low = generator.normal(size=(20_000, 8)) @ generator.normal(size=(8, 64))
    vectors = (low + 0.1 * generator.normal(size=low.shape)).astype(np.float32)
    assert bound_for_threshold(vectors, 0.95).width < 32
    # These are too few vectors for a sample.
    assert bound_for_threshold(vectors[:1000], 0.95).width == 64


@pytest.mark.parametrize(("vnni", "exact"), [(True, True), (True, False), (False, True)])
def test_products_in_8_bits_are_for_processors_that_do_them_well(
    vnni: bool, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    features = {"avx512vnni": vnni}
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: features)
    products = bounds._integer_products
    monkeypatch.setattr(bounds, "_integer_products", lambda x, y: products(x, y) - (not exact))
    assert isinstance(whole_bound(300, 1e12), IntegerBound) == (vnni and exact)
    assert not isinstance(whole_bound(300, 1e4), IntegerBound)
