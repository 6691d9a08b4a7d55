"""Ranks of values that are drawn again and again, for the bootstrap."""

import numpy as np

from paraphrastic.base.arrays import Float64, Int64


def places(values: Float64) -> Int64:
    """For each value of a vector, how many different values are smaller: [n]. `ranked_places` takes them."""
    return np.unique(values, return_inverse=True)[1]


def ranked_places(drawn: Int64) -> Float64:
    """Ranks in each row, as `ranked` gives them, of values that were drawn from a vector: [b, n].

    The rows hold the values' `places`, so that they are counted instead of sorted.
    """
    different = int(drawn.max(initial=0)) + 1
    cells = drawn + different * np.arange(len(drawn))[:, None]
    counts = np.bincount(cells.ravel(), minlength=len(drawn) * different).reshape(len(drawn), different)
    return (counts.cumsum(axis=1) - (counts - 1) / 2).ravel()[cells]
