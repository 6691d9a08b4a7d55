"""Whether one system is better than another on the same test data."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

from paraphrastic.evaluation.results import Measurement

Float64 = npt.NDArray[np.float64]

# Largest p at which a difference is said to hold.
SIGNIFICANCE = 0.05


def best(measurements: Sequence[Measurement | None], published: Sequence[float] = ()) -> int | None:
    """The index of the figure that is better than all others, if each of the differences holds.

    Measured figures are compared by `p_value`. Of a published one nothing but the figure is known: it must
    lie outside the 95 % interval.

    Args:
        measurements: the figures of a column, None for a system without one.
        published: other people's figures, in the same unit.
    """
    there = [(index, each) for index, each in enumerate(measurements) if each is not None]
    if not there or len(there) + len(published) < 2:
        return None
    sign = 1.0 if there[0][1].higher_is_better else -1.0
    index, first = max(there, key=lambda each: sign * each[1].value)
    for other, second in there:
        if other != index:
            p = p_value(first, second)
            if p is None or not p < SIGNIFICANCE or first.value == second.value:
                return None
    worst = np.percentile(sign * first.samples, 2.5)
    return index if all(worst > sign * value for value in published) else None


def p_value(first: Measurement, second: Measurement) -> float | None:
    """The probability, two-sided, of a difference as large as this if the systems were equally good.

    Williams' test where both are correlations of one dataset with its gold scores, else the paired
    bootstrap. None where they are not of the same test data or resamples.
    """
    if first.digest != second.digest or len(first.samples) != len(second.samples):
        return None
    if first.scores is not None and second.scores is not None and first.gold is not None:
        return williams(first.scores, second.scores, first.gold, first.value, second.value)
    return paired_bootstrap(first.samples, second.samples)


def williams(first: Float64, second: Float64, gold: Float64, r_first: float, r_second: float) -> float:
    """Williams' test that two correlations with the same gold scores [n] are equal, two-sided.

    t with n − 3 degrees of freedom (Williams 1959; Steiger 1980, equation 7). The correlations are
    Pearson's; ranks of scores and gold make it a test of Spearman's.

    Args:
        first: scores of the first system.
        second: of the second one.
        gold: gold scores.
        r_first: correlation of the first system's scores with them.
        r_second: of the second one's.
    """
    n = len(gold)
    if np.array_equal(first, second):
        return 1.0
    if n < 4:
        return float("nan")
    r_systems = float(np.corrcoef(first, second)[0, 1])
    determinant = 1 - r_first**2 - r_second**2 - r_systems**2 + 2 * r_first * r_second * r_systems
    mean = (r_first + r_second) / 2
    variance = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_systems) ** 3
    if variance <= 0:
        # The two scores are linear in each other.
        return 1.0
    t = (r_first - r_second) * np.sqrt((n - 1) * (1 + r_systems) / variance)
    return float(2 * stats.t.sf(abs(t), n - 3))


def paired_bootstrap(first: Float64, second: Float64) -> float:
    """Two-sided p of the difference of two systems' estimates [B] on the same resamples (Efron 1979)."""
    difference = first - second
    below, above = np.count_nonzero(difference <= 0), np.count_nonzero(difference >= 0)
    return float(min(1.0, 2 * (min(below, above) + 1) / (len(difference) + 1)))
