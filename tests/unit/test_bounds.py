"""Products of vectors that bound their cosines, and the bound that a sample chooses."""

import numpy as np
import pytest
from bounded import SHARES, basis_of, bound_of
from test_nearest import similarities, translated

from paraphrastic.neighbours.bounds import bound_for_neighbours, bound_for_threshold
from paraphrastic.neighbours.vectors import direction_entries


@pytest.mark.parametrize("kept", SHARES)
@pytest.mark.parametrize("in_16_bits", [False, True])
def test_products_bound_cosines(kept: float, in_16_bits: bool) -> None:
    x, y = translated(150, 250, 60)
    # Zero; one entry alone; one that is much larger than the others; and others of any length.
    x[3], y[7] = 0, 0
    x[4], y[8] = np.eye(60)[2], np.eye(60)[2]
    x[5, 9], y[9, 9] = 40, -40
    y[10:40] *= np.geomspace(1e-30, 1e30, 30)[:, None]
    y[40:60] = x[40:60]
    # One of which nothing is kept.
    basis = basis_of(60, 0.4)
    x[6] = y[6] = x[6] - basis @ (x[6] @ basis)
    bound = bound_of(x, kept)
    sides = [direction_entries(side, in_16_bits=in_16_bits) for side in (x, y)]
    products = bound.vectors(sides[0]).astype(np.float64) @ bound.vectors(sides[1]).astype(np.float64).T
    in_single_precision = bound.vectors(sides[0]) @ bound.vectors(sides[1]).T
    cosines = similarities(*sides)
    assert (np.minimum(products, in_single_precision) + bound.slack - cosines).min() >= 0
    # Where all dimensions are kept, products differ from cosines by rounding alone.
    assert kept < 1 or np.abs(products - cosines).max() < bound.slack < 1e-5


def test_the_bound_fits_the_vectors() -> None:
    generator = np.random.default_rng(0)
    flat = generator.normal(size=(9000, 64)).astype(np.float32)
    assert bound_for_neighbours(flat, flat[::-1], 4).width == 64
    # A few dimensions rule most pairs out.
    low = generator.normal(size=(20_000, 8)) @ generator.normal(size=(8, 64))
    vectors = (low + 0.1 * generator.normal(size=low.shape)).astype(np.float32)
    assert bound_for_threshold(vectors, 0.95).width < 32
    # There are too few vectors for a sample.
    assert bound_for_threshold(vectors[:1000], 0.95).width == 64
