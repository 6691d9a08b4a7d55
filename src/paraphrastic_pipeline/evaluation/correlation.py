"""Correlations of scores with human judgements.

`scipy.stats` takes a second to import, so it is imported only where scores are correlated.
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
    from scipy import stats

    _check(scores, gold, name=name)
    return float(stats.pearsonr(scores, gold).statistic)


def spearman(scores: Float64, gold: Float64, *, name: str) -> float:
    """Spearman's ρ of two vectors [n], with tied values at their mean rank; errors as in `pearson`."""
    from scipy import stats

    _check(scores, gold, name=name)
    return float(stats.spearmanr(scores, gold).statistic)


def ranked(values: Float64) -> Float64:
    """Ranks along the last axis, with tied values at their mean rank: [..., n]."""
    from scipy import stats

    return stats.rankdata(values, axis=-1)


def _check(scores: Float64, gold: Float64, *, name: str) -> None:
    if len(scores) < MIN_PAIRS:
        raise InputError(f"{name}: a correlation needs {MIN_PAIRS} pairs or more, not {len(scores)}")
    for what, values in (("scores", scores), ("gold scores", gold)):
        if not np.isfinite(values).all():
            raise InputError(f"{name}: not all {what} are finite")
        if np.ptp(values) <= _ROUNDING * max(1.0, float(np.abs(values).max())):
            raise InputError(f"{name}: all {len(values)} {what} are {values[0]:g}: there is no correlation")
