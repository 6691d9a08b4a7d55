"""Correlations of scores with human judgements.

`scipy.stats` has them too, to the same digit, but takes a second to import, longer than most steps take here.
"""

import numpy as np

from paraphrastic.base.arrays import Float64
from paraphrastic.base.errors import InputError

# Two points always lie on a line, so their correlation says nothing.
MIN_PAIRS = 3
# If the relative range of the scores is no larger, it is only the rounding of single precision.
_ROUNDING = 1e-6


def pearson(scores: Float64, gold: Float64, *, name: str) -> float:
    """Pearson's r of two vectors [n]; an `InputError` that mentions `name` if r is not defined."""
    _check(scores, gold, name=name)
    kind = np.result_type(scores, gold, np.float32)
    return float(np.clip(np.vecdot(_unit(scores.astype(kind)), _unit(gold.astype(kind))), -1.0, 1.0))


def spearman(scores: Float64, gold: Float64, *, name: str) -> float:
    """Spearman's ρ of two vectors [n], with tied values at their mean rank; errors as in `pearson`."""
    _check(scores, gold, name=name)
    return float(np.corrcoef(ranked(scores), ranked(gold))[1, 0])


def ranked(values: Float64) -> Float64:
    """Ranks along the last axis, with tied values at their mean rank: [..., n]."""
    if not values.size:
        return np.empty(values.shape)
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    is_first = np.ones(values.shape, bool)
    is_first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    starts = np.flatnonzero(is_first)
    counts = np.diff(starts, append=values.size)
    ranks = np.empty(values.shape)
    means = np.repeat(starts % values.shape[-1] + (counts + 1) / 2, counts)
    np.put_along_axis(ranks, order, means.reshape(values.shape), axis=-1)
    return ranks


def _unit(values: Float64) -> Float64:
    """The deviations from the mean, scaled to length one; their squares neither overflow nor vanish."""
    deviations = values - values.mean(axis=-1, keepdims=True)
    largest = np.abs(deviations).max(axis=-1, keepdims=True)
    return deviations / (largest * np.linalg.norm(deviations / largest, ord=2, axis=-1, keepdims=True))


def _check(scores: Float64, gold: Float64, *, name: str) -> None:
    if len(scores) < MIN_PAIRS:
        raise InputError(f"{name}: a correlation needs {MIN_PAIRS} pairs or more, not {len(scores)}")
    for what, values in (("scores", scores), ("gold scores", gold)):
        if not np.isfinite(values).all():
            raise InputError(f"{name}: not all {what} are finite")
        if np.ptp(values) <= _ROUNDING * max(1.0, float(np.abs(values).max())):
            raise InputError(f"{name}: all {len(values)} {what} are {values[0]:g}: there is no correlation")
