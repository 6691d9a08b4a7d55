"""Figures of systems on test data: how certain they are, and whether one is better than another.

The percentile bootstrap estimates the sampling error. All systems are given the same resamples.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from paraphrastic.base.arrays import Bool, Float64, Int64
from paraphrastic.quality.correlation import pearson, ranked, spearman
from paraphrastic_pipeline.evaluation.ranks import places, ranked_places

# A difference holds if its p is smaller than this.
SIGNIFICANCE = 0.05
# Number of resampled indices that are held at a time.
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One figure of a system.

    Attributes:
        value: the figure itself: a correlation, or a share from 0 to 1.
        samples: the figure on B bootstrap resamples of the test data, [B]. The resamples are the same for all
            systems, so the difference of two systems' samples is a paired bootstrap.
        n: number of pairs, sentences or other items that were resampled.
        digest: digest of the test data with their gold. Figures with the same digest and B are comparable.
        higher_is_better: false for an error rate.
        scores: the system's scores of the pairs, [n], or their ranks; None unless a correlation on a dataset.
        gold: the human scores of the pairs, [n], or their ranks; None like `scores`.
        deviation: standard deviation over the training runs that `value` is the mean of; None for one run.
        model_digest: digest of the model, or several joined by commas; empty if not known.
    """

    value: float
    samples: Float64
    n: int
    digest: str
    higher_is_better: bool = True
    scores: Float64 | None = None
    gold: Float64 | None = None
    deviation: float | None = None
    model_digest: str = ""


def correlations(
    scores: Float64, gold: Float64, *, name: str, at: str, digest: str, samples: int
) -> dict[str, Measurement]:
    """Both correlations on a dataset, `pearson {name}` and `spearman {name}`.

    They compare a system's scores with the human ones, [n] each. The name seeds the resamples, which are the
    same for both, and errors name the place of the dataset, `at`.
    """
    ranks, drawn_from = (ranked(scores), ranked(gold)), (places(scores), places(gold))
    return {
        f"{kind} {name}": Measurement(
            value=correlation(scores, gold, name=at),
            samples=bootstrap(of_rows, *columns, name=name, samples=samples),
            n=len(gold),
            digest=digest,
            scores=compared[0],
            gold=compared[1],
        )
        for kind, correlation, of_rows, columns, compared in (
            ("pearson", pearson, row_pearson, (scores, gold), (scores, gold)),
            ("spearman", spearman, _spearman_of_places, drawn_from, ranks),
        )
    }


def share(hits: Bool, *, name: str, digest: str, samples: int, higher_is_better: bool = True) -> Measurement:
    """The share of hits among n items, such as an accuracy, or an error rate if `hits` are the errors."""
    values = hits.astype(np.float64)
    return Measurement(
        value=float(values.mean()),
        samples=bootstrap(lambda drawn: drawn.mean(axis=1), values, name=name, samples=samples),
        n=len(hits),
        digest=digest,
        higher_is_better=higher_is_better,
    )


def precision_recall_f1(counts: Float64, *, name: str, digest: str, samples: int) -> dict[str, Measurement]:
    """`precision`, `recall` and `f1` of n items; a figure is 0 if its denominator is.

    For each item, `counts` has the number of pairs that are accepted and gold, accepted, and gold, [n, 3].
    The name of the dataset seeds the resamples.
    """

    def figures(sums: Float64) -> Float64:
        hits, accepted, gold = np.moveaxis(sums, -1, 0)
        parts, wholes = np.stack([hits, hits, 2 * hits]), np.stack([accepted, gold, accepted + gold])
        return np.divide(parts, wholes, out=np.zeros_like(parts), where=wholes > 0)

    sums = bootstrap(lambda drawn: drawn.sum(axis=1), counts, name=name, samples=samples)
    return {
        kind: Measurement(value=float(value), samples=resampled, n=len(counts), digest=digest)
        for kind, value, resampled in zip(
            ("precision", "recall", "f1"), figures(counts.sum(axis=0)), figures(sums), strict=True
        )
    }


def mean_of(measurements: Sequence[Measurement]) -> Measurement:
    """The mean of figures on several test sets; each of its samples is the mean of theirs."""
    digests = "".join(measurement.digest for measurement in measurements)
    return Measurement(
        value=float(np.mean([measurement.value for measurement in measurements])),
        samples=np.mean([measurement.samples for measurement in measurements], axis=0),
        n=sum(measurement.n for measurement in measurements),
        digest=hashlib.sha256(digests.encode()).hexdigest(),
        higher_is_better=measurements[0].higher_is_better,
        model_digest=",".join(sorted({measurement.model_digest for measurement in measurements})),
    )


def draws(name: str, n: int, samples: int) -> Iterator[Int64]:
    """Indices of `samples` resamples of n items with replacement, in blocks [b, n].

    They depend on the arguments alone, so every system gets the same resamples of the data set `name`.
    """
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    size = max(1, _BLOCK // max(1, n))
    for start in range(0, samples, size):
        yield generator.integers(n, size=(min(size, samples - start), n))


def bootstrap(statistic: Callable[..., Float64], *columns: Float64, name: str, samples: int) -> Float64:
    """Apply a statistic to resamples of n items in blocks of rows [b, n, …]; the results, [samples, …]."""
    blocks = draws(name, len(columns[0]), samples)
    return np.concatenate([statistic(*(column[drawn] for column in columns)) for drawn in blocks])


def row_pearson(x: Float64, y: Float64) -> Float64:
    """Pearson's r of corresponding rows of two arrays [b, n]; 0 if a row is constant and r not defined."""
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    norms = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return np.divide((x * y).sum(axis=1), norms, out=np.zeros(len(x)), where=norms > 0).clip(-1.0, 1.0)


def row_spearman(x: Float64, y: Float64) -> Float64:
    """Spearman's ρ of corresponding rows of two arrays [b, n]; 0 if a row is constant."""
    return row_pearson(ranked(x), ranked(y))


def _spearman_of_places(x: Int64, y: Int64) -> Float64:
    """`row_spearman` of values that were drawn from two vectors, given the `places` of these values."""
    return row_pearson(ranked_places(x), ranked_places(y))


def interval(samples: Float64) -> list[float]:
    """The 95 % percentile interval of bootstrap estimates, [low, high]."""
    low, high = np.percentile(samples, [2.5, 97.5])
    return [float(low), float(high)]


def best(measurements: Sequence[Measurement | None], published: Sequence[float] = ()) -> int | None:
    """The index of the best figure, or None if its difference from any other figure does not hold.

    Measured figures are compared by `p_value`. A published figure comes without samples, so the worse end of
    the best figure's 95 % interval must be better than it.

    Args:
        measurements: the figures of a column, None for a system without one.
        published: published figures, in the same unit.
    """
    measured = [
        (index, measurement) for index, measurement in enumerate(measurements) if measurement is not None
    ]
    if not measured or len(measured) + len(published) < 2:
        return None
    sign = 1.0 if measured[0][1].higher_is_better else -1.0
    index, first = max(measured, key=lambda numbered: sign * numbered[1].value)
    for other, second in measured:
        if other != index:
            p = p_value(first, second)
            if p is None or not p < SIGNIFICANCE or first.value == second.value:
                return None
    worst = np.percentile(sign * first.samples, 2.5)
    return index if all(worst > sign * value for value in published) else None


def p_value(first: Measurement, second: Measurement) -> float | None:
    """Two-sided p of the difference between two systems' figures.

    Williams' test is used for two correlations with the gold scores of one dataset, and the paired bootstrap
    otherwise. The result is None if test data or resamples differ.
    """
    if first.digest != second.digest or len(first.samples) != len(second.samples):
        return None
    if first.scores is not None and second.scores is not None and first.gold is not None:
        return williams(first.scores, second.scores, first.gold, first.value, second.value)
    return paired_bootstrap(first.samples, second.samples)


def williams(first: Float64, second: Float64, gold: Float64, r_first: float, r_second: float) -> float:
    """Two-sided p of Williams' test that two correlations with the same gold scores are equal.

    The statistic is t with n − 3 degrees of freedom (Williams 1959; Steiger 1980, equation 7). It is made
    for Pearson's r, `r_first` and `r_second`, of the systems' scores with the gold ones, [n] each; pass ranks
    instead of scores to test Spearman's ρ.
    """
    n = len(gold)
    if np.array_equal(first, second):
        return 1.0
    if n < 4:
        return float("nan")
    # Imported here, since most steps that measure compare no systems.
    from scipy import special

    r_systems = float(np.corrcoef(first, second)[0, 1])
    determinant = 1 - r_first**2 - r_second**2 - r_systems**2 + 2 * r_first * r_second * r_systems
    mean = (r_first + r_second) / 2
    variance = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_systems) ** 3
    if variance <= 0:
        # One system's scores are a linear function of the other's.
        return 1.0
    t = (r_first - r_second) * np.sqrt((n - 1) * (1 + r_systems) / variance)
    return float(2 * special.stdtr(n - 3, -abs(t)))


def paired_bootstrap(first: Float64, second: Float64) -> float:
    """Two-sided p of the difference of two systems' figures [B] on the same resamples (Efron 1979)."""
    difference = first - second
    below, above = np.count_nonzero(difference <= 0), np.count_nonzero(difference >= 0)
    return float(min(1.0, 2 * (min(below, above) + 1) / (len(difference) + 1)))
