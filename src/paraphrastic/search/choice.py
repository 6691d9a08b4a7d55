"""The plan by which vectors are compared fastest, chosen by a sample."""

import numpy as np

from paraphrastic.base.threads import Workers
from paraphrastic.search.directions import Directions
from paraphrastic.search.kernels import Float32, Float64
from paraphrastic.search.plans import Plan
from paraphrastic.search.sketches import Sketch, bounds
from paraphrastic.search.tiles import HAS_BYTES

# Vectors that are sampled: rows, and columns that they are compared with.
_ROWS, _COLUMNS = 64, 2048
# Nanoseconds on a core: of a word of two codes, of comparing two vectors, of one of their dimensions, and of
# one product in single precision.
_WORD, _COMPARISON, _DIMENSION, _PRODUCT = 0.018, 30.0, 0.35, 0.025
# Shares of the dimensions that may be kept; looking for them takes nanoseconds times the dimension's cube.
_SHARES = (1 / 16, 3 / 32, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2, 5 / 8, 3 / 4)
_LOOKING = 20.0
# Sums of products of more bytes could leave 32 bits.
_MOST_BYTES = 1 << 15
# So few pairs are not worth a look.
_FEW = 4e6


def plan_for_neighbours(
    x: Directions,
    y: Directions,
    k: int,
    workers: Workers,
    *,
    rows: int | None = None,
    lowest: float = -np.inf,
) -> Plan:
    """The plan for the k nearest neighbours of each of `x` in `y`.

    Args:
        x: n directions.
        y: m directions.
        k: neighbours.
        workers: the threads.
        rows: of which `y` are only the first; None where they are all.
        lowest: neighbours with a lower cosine are not looked for.
    """
    rows = rows or len(y)
    some, others = x[_sample(len(x), _ROWS)], y[_sample(len(y), _COLUMNS)]
    cosines = np.sort(some.units() @ others.units().T, axis=1)[:, ::-1]
    # Of a sample that is too small to have a neighbour, the nearest is farther than the k-th one of all.
    nearest = min(max(1, round(k * len(others) / rows)), len(others))
    bars = np.maximum(cosines[:, nearest - 1], lowest)
    return _fastest(some, others, bars, float(len(x)) * rows, len(x) + rows, workers)


def plan_for_threshold(x: Directions, threshold: float, workers: Workers) -> Plan:
    """The plan for all pairs among `x` with this cosine or a higher one."""
    order = _sample(len(x), _ROWS + _COLUMNS)
    # No vector is to be compared with itself.
    split = min(_ROWS, len(order) // 2)
    rows, columns = (x[part] for part in (order[:split], order[split:]))
    return _fastest(rows, columns, np.full(split, threshold), len(x) ** 2 / 2, len(x), workers)


def _sample(n: int, size: int) -> np.ndarray:
    return np.random.default_rng(0).choice(n, min(n, size), replace=False)


def _fastest(
    rows: Directions, columns: Directions, bars: Float64, pairs: float, vectors: int, workers: Workers
) -> Plan:
    """The fastest plan for so many pairs of vectors, if a row is compared with what can be above its bar."""
    units = columns.units()

    def cost(plan: Plan) -> float:
        possible = bounds(Sketch.of(rows, plan, workers), Sketch.of(columns, plan, workers)) > bars[:, None]
        possible_share = float(possible.mean()) if possible.size else 0.0
        preparation = 0.0 if plan.basis is None else _PRODUCT * plan.dim * plan.kept * vectors / pairs
        return plan.words * _WORD + possible_share * (_COMPARISON + _DIMENSION * plan.dim) + preparation

    kinds = (True, False) if HAS_BYTES and columns.dim <= _MOST_BYTES else (False,)
    plans = [Plan.of(units, in_bytes=in_bytes) for in_bytes in kinds]
    if pairs < _FEW:
        return plans[0]
    costs = [cost(plan) for plan in plans]
    if min(costs) * pairs >= _LOOKING * columns.dim**3:
        leading = _leading(np.concatenate([rows.units(), units]))
        for kept in sorted({max(4, round(share * plans[0].dim / 4) * 4) for share in _SHARES}):
            if kept < plans[0].dim:
                basis = leading[:, :kept] @ _even(kept)
                plans.append(Plan.of(units, in_bytes=kinds[0], basis=basis.astype(np.float32)))
                costs.append(cost(plans[-1]))
    return plans[int(np.argmin(costs))]


def _leading(units: Float32) -> Float64:
    """Orthonormal directions, [dim, dim], those first in which unit vectors are longest."""
    _, directions = np.linalg.eigh((units.T @ units).astype(np.float64))
    return directions[:, ::-1]


def _even(n: int) -> Float64:
    """A rotation, [n, n], after which no dimension is much larger than others: all have one unit.

    It is the discrete cosine transform.
    """
    waves = np.sqrt(2 / n) * np.cos(np.pi / n * np.outer(np.arange(n), np.arange(n) + 0.5))
    waves[0] /= np.sqrt(2)
    return waves
