"""Near duplicates among more vectors than one machine holds: candidates for an engine, and what follows.

Each vector gets a number of keys, one for each band. Two near vectors share the key of at least one band with
a known probability, whatever the other vectors are. So an engine groups vectors by band and key, and all
pairs of a group are compared exactly. `docs/engines.md` shows it.
"""

import math
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Float32, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.base.jit import jit
from paraphrastic.neighbours.bounds import Bound
from paraphrastic.neighbours.kernels import NOTHING
from paraphrastic.neighbours.nearest import ROUNDING
from paraphrastic.neighbours.parts import slices
from paraphrastic.neighbours.vectors import require_finite, single, two_axes

# Random directions of a hash, which finds the one that is nearest to a vector or to its opposite.
_DIRECTIONS = 64
# Hashes of a band: with more of them, a key would not fit into 63 bits.
_MOST_HASHES = 9
# Keys for each vector: above this, a comparison of all vectors is faster.
_MOST_BANDS = 2000
# Vectors that should have the same key in a band, about. More of them take fewer bands, but more comparisons.
_GROUP = 100
# Vectors of a group that are multiplied with all later ones at once, and pairs compared exactly at once.
_BLOCK, _COMPARED = 256, 16384
# Pairs that are drawn to estimate how often two vectors have the same hash, and vectors hashed at once.
_DRAWN, _PART = 100_000, 4096
_SEED = 1


def band_keys(vectors: npt.ArrayLike, threshold: float, *, rows: int, recall: float = 0.99) -> Int64:
    """Return keys of which near vectors share at least one: int64 [n, bands].

    Two vectors whose cosine reaches the threshold have the same key in one of the bands with probability
    `recall`, or a higher one if they are nearer. Others have so with a probability that falls fast with their
    cosine. A key is made of cross-polytope hashes: the nearest of 64 random directions and their opposites
    (Andoni et al. 2015, section 3). The keys depend on nothing but the arguments, so shards can be hashed
    anywhere.

    Args:
        vectors: finite floating-point numbers, [n, dim]; their lengths do not matter.
        threshold: lowest cosine of near vectors, below 1.
        rows: number of all vectors, of which these are a part, roughly. The more there are, the more keys.
        recall: between 0 and 1.

    Returns:
        Keys that are not negative; -1 in all bands for a zero vector, which is near nothing.

    Raises:
        InputError: a vector is not finite, an argument is out of bounds, or the threshold is so low that more
            than 2,000 bands would be needed.
    """
    x = single(two_axes(vectors, "vectors"))
    for value, name in ((threshold, "threshold"), (recall, "recall")):
        if not 0 < value < 1:
            raise InputError(f"a {name} of {value:.12g} is not between 0 and 1")
    if rows < 1:
        raise InputError(f"rows is {rows}, but must be at least 1")
    norms = np.empty(len(x))
    # Of unit length, so that no projection is too large or too small.
    units = Bound(x.shape[1]).vectors(x, norms)
    require_finite(norms, "vectors")
    wanted = math.log(max(rows / _GROUP, 1)) / math.log(2 * _DIRECTIONS)
    hashes = min(_MOST_HASHES, max(1, round(wanted)))
    bands = _bands(threshold, recall, hashes)
    keys = np.empty((len(x), bands), np.int64)
    random = np.random.default_rng(_SEED)
    for band in range(bands):
        directions = random.standard_normal((x.shape[1], hashes * _DIRECTIONS), np.float32)
        for start in range(0, len(x), _PART):
            keys[start : start + _PART, band] = _keys(units[start : start + _PART] @ directions)
    keys[norms == 0] = NOTHING
    return keys


def _keys(projections: Float32) -> Int64:
    """Join the hashes of a band, whose projections are [n, hashes × directions]."""
    blocks = projections.reshape(len(projections), -1, _DIRECTIONS)
    nearest = np.abs(blocks).argmax(axis=2)
    is_opposite = np.take_along_axis(blocks, nearest[:, :, None], 2)[:, :, 0] < 0
    digits = 2 * nearest + is_opposite
    return digits @ (2 * _DIRECTIONS) ** np.arange(digits.shape[1], dtype=np.int64)


@cache
def _bands(threshold: float, recall: float, hashes: int) -> int:
    """Return how many bands find a pair of this cosine with this probability."""
    random = np.random.default_rng(_SEED)
    first, other = random.standard_normal((2, _DRAWN, _DIRECTIONS), np.float32)
    second = threshold * first + math.sqrt(1 - threshold**2) * other
    share = float((_keys(first) == _keys(second)).mean())
    # A little less than what was found, since that is uncertain.
    same = max(0.0, share - 3 * math.sqrt(share / _DRAWN)) ** hashes
    bands = math.ceil(math.log1p(-recall) / math.log1p(-same)) if same > 0 else _MOST_BANDS + 1
    if bands > _MOST_BANDS:
        raise InputError(
            f"a threshold of {threshold:.12g} needs more than {_MOST_BANDS:,} bands; "
            "raise it, or compare all vectors with near_duplicates"
        )
    return bands


def near_pairs(
    vectors: npt.ArrayLike, threshold: float, *, groups: npt.ArrayLike | None = None
) -> tuple[Int64, Int64]:
    """Find all pairs of vectors whose cosine reaches the threshold, exactly: two arrays of rows, int64 [p].

    As in `near_duplicates`, a cosine that is lower only by rounding reaches it, and a zero vector is near
    nothing. The first row of a pair is the lower one.

    Args:
        vectors: finite floating-point numbers, [n, dim].
        threshold: above 0.
        groups: [n, k], numbers such as a band and a key; only rows with the same ones are compared. None
            compares all rows.

    Raises:
        InputError: a vector is not finite, the threshold is not above 0, or there are other groups than rows.
    """
    if not threshold > 0:
        raise InputError(f"a threshold of {threshold:.12g} is not above 0")
    x = single(two_axes(vectors, "vectors"))
    norms = np.empty(len(x))
    bound = Bound(x.shape[1])
    units = bound.vectors(x, norms)
    require_finite(norms, "vectors")
    found: list[tuple[Int64, Int64]] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for rows in [np.arange(len(x))] if groups is None else _groups(np.asarray(groups), len(x)):
        for start in range(0, len(rows), _BLOCK):
            block, later = rows[start : start + _BLOCK], rows[start:]
            products = units[block] @ units[later].T
            places = np.nonzero(np.triu(products >= threshold - ROUNDING - bound.slack, 1))
            for part in slices(len(places[0]), _COMPARED):
                first, second = block[places[0][part]], later[places[1][part]]
                cosines = np.einsum("nd,nd->n", x[first], x[second], dtype=np.float64)
                near = cosines >= (threshold - ROUNDING) * norms[first] * norms[second]
                found.append((first[near], second[near]))
    first, second = (np.concatenate(ends) for ends in zip(*found, strict=True))
    return first, second


def _groups(labels: npt.NDArray[Any], n: int) -> list[Int64]:
    """The rows, ascending, of each group of several."""
    if len(labels) != n:
        raise InputError(f"there are {len(labels)} groups for {n} vectors")
    order = np.lexsort(labels.reshape(n, -1).T)
    ordered = labels.reshape(n, -1)[order]
    edges = 1 + np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1))
    return [rows for rows in np.split(order, edges) if len(rows) > 1]


def settle_duplicates(
    first: npt.ArrayLike, second: npt.ArrayLike
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Decide from pairs of near rows which rows are left out, as `near_duplicates` does.

    Args:
        first: [p], what identifies one row of each pair: numbers or text, whose order is that of the rows.
        second: [p], what identifies the other row. Pairs may come in any order, and more than once.

    Returns:
        The rows that are left out, ascending, and the first kept row that each of them is near.
    """
    ends = np.stack([np.asarray(first), np.asarray(second)])
    rows, places = np.unique(ends, return_inverse=True)
    places = np.sort(places.reshape(2, -1), axis=0)
    originals = np.full(len(rows), NOTHING, np.int64)
    # By their first rows, so that a row is decided before later ones are compared with it.
    _settle(np.ascontiguousarray(places[:, np.lexsort(places[::-1])]), originals)
    left_out = np.flatnonzero(originals != NOTHING)
    return rows[left_out], rows[originals[left_out]]


@jit
def _settle(pairs: Int64, originals: Int64) -> None:
    """Go through pairs, [2, p], sorted by their first rows, and set the originals of those left out, [n]."""
    for place in range(pairs.shape[1]):
        first, second = pairs[0, place], pairs[1, place]
        if first != second and originals[first] < 0 and originals[second] < 0:
            originals[second] = first
