"""Correlations with people's judgements."""

import numpy as np
import numpy.typing as npt
from scipy import stats

from paraphrastic.errors import InputError

Float64 = npt.NDArray[np.float64]


def pearson(scores: Float64, gold: Float64, *, name: str) -> float:
    """Pearson's r of two vectors [n]; an `InputError` that says `name` where it is not defined."""
    _check(scores, gold, name=name)
    return float(stats.pearsonr(scores, gold).statistic)


def spearman(scores: Float64, gold: Float64, *, name: str) -> float:
    """Spearman's ρ of two vectors [n], ties at their mean rank; errors as in `pearson`."""
    _check(scores, gold, name=name)
    return float(stats.spearmanr(scores, gold).statistic)


def _check(scores: Float64, gold: Float64, *, name: str) -> None:
    if len(scores) < 2:
        raise InputError(f"{name}: a correlation needs two pairs or more, not {len(scores)}")
    for what, values in (("scores", scores), ("gold scores", gold)):
        if not np.isfinite(values).all():
            raise InputError(f"{name}: not all {what} are finite")
        if np.ptp(values) == 0:
            raise InputError(f"{name}: all {len(values)} {what} are {values[0]:g}: there is no correlation")
