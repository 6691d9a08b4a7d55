"""Figures of systems on test data, and how certain they are.

The percentile bootstrap estimates the sampling error. All systems are given the same resamples of a data set.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from paraphrastic.base.arrays import Bool, Float64, Int64
from paraphrastic.quality.correlation import pearson, spearman

# Number of resampled indices that are held at a time.
_BLOCK = 1 << 22

# A figure on as many resamples of the test data as are asked for, [samples].
Resampled = Callable[[int], Float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """A data set that figures are measured on.

    Attributes:
        name: its name in the result.
        digest: SHA-256 by which official data are recognized.
        about: what else the result says about the data set.
    """

    name: str
    digest: str
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure of a system.

    Attributes:
        value: the figure itself: a correlation, or a share from 0 to 1.
        resampled: the figure on resamples of the test data.
        n: number of pairs, sentences or other items that are resampled.
        data: the data sets that it is measured on.
    """

    value: float
    resampled: Resampled
    n: int
    data: Sequence[Data]

    def interval(self, samples: int) -> list[float]:
        """The 95 % interval over this number of resamples, [low, high]."""
        return interval(self.resampled(samples))


# What an evaluation returns, by names such as `pearson 2012/MSRpar`.
Figures = dict[str, Figure]


def correlations(name: str, scores: Float64, gold: Float64, *, data: Sequence[Data], at: str) -> Figures:
    """Both correlations of a system's scores with the human ones, [n] each: `pearson {name}`, `spearman …`.

    The name seeds the resamples, which are the same for both, and errors name the place of the data, `at`.
    """
    resampled = resampled_correlations(scores, gold, seed=name)
    return {
        f"{kind} {name}": Figure(
            value=correlation(scores, gold, name=at), resampled=resampled[kind], n=len(gold), data=data
        )
        for kind, correlation in (("pearson", pearson), ("spearman", spearman))
    }


def resampled_correlations(x: Float64, y: Float64, *, seed: str) -> dict[str, Resampled]:
    """`pearson` and `spearman` of two vectors, [n] each, on resamples; 0 if a resample is constant."""
    # Of each value, how many different ones are smaller: resamples of these can be ranked without sorting.
    smaller = [np.unique(values, return_inverse=True)[1] for values in (x, y)]
    return {
        "pearson": bootstrap(_row_pearson, x, y, seed=seed),
        "spearman": bootstrap(lambda *drawn: _row_pearson(*map(_ranked, drawn)), *smaller, seed=seed),
    }


def share(hits: Bool, *, seed: str, data: Sequence[Data]) -> Figure:
    """The share of hits among n items, such as an accuracy, or an error rate if `hits` are the errors."""
    values = hits.astype(np.float64)
    resampled = bootstrap(lambda drawn: drawn.mean(axis=1), values, seed=seed)
    return Figure(value=float(values.mean()), resampled=resampled, n=len(hits), data=data)


def precision_recall_f1(counts: Float64, *, seed: str, data: Sequence[Data]) -> Figures:
    """`precision`, `recall` and `f1` of n items; a figure is 0 if its denominator is.

    For each item, `counts` has the number of pairs that are accepted and gold, accepted, and gold, [n, 3].
    """
    sums = bootstrap(lambda drawn: drawn.sum(axis=1), counts, seed=seed)

    def figure(part: Sequence[int], whole: Sequence[int]) -> Figure:
        def ratio(sums: Float64) -> Float64:
            parts, wholes = sums @ part, sums @ whole
            return np.divide(parts, wholes, out=np.zeros_like(parts), where=wholes > 0)

        (value,) = ratio(counts.sum(axis=0, keepdims=True)).tolist()
        return Figure(value=value, resampled=lambda samples: ratio(sums(samples)), n=len(counts), data=data)

    return {
        "precision": figure([1, 0, 0], [0, 1, 0]),
        "recall": figure([1, 0, 0], [0, 0, 1]),
        "f1": figure([2, 0, 0], [0, 1, 1]),
    }


def mean_of(figures: Sequence[Figure]) -> Figure:
    """The mean of figures on several test sets; each of its resamples is the mean of theirs."""
    return Figure(
        value=float(np.mean([figure.value for figure in figures])),
        resampled=lambda samples: np.mean([figure.resampled(samples) for figure in figures], axis=0),
        n=sum(figure.n for figure in figures),
        data=list({data.name: data for figure in figures for data in figure.data}.values()),
    )


def draws(seed: str, n: int, samples: int) -> Iterator[Int64]:
    """Indices of `samples` resamples of n items with replacement, in blocks [b, n].

    They depend on the arguments alone, so every system gets the same resamples of a data set.
    """
    generator = np.random.default_rng(zlib.crc32(seed.encode()))
    size = max(1, _BLOCK // max(1, n))
    for start in range(0, samples, size):
        yield generator.integers(n, size=(min(size, samples - start), n))


def bootstrap(statistic: Callable[..., Float64], *columns: Float64 | Int64, seed: str) -> Resampled:
    """A statistic of resamples of n items, which it is given in blocks of rows [b, n, …]."""

    @cache
    def resampled(samples: int) -> Float64:
        blocks = draws(seed, len(columns[0]), samples)
        return np.concatenate([statistic(*(column[drawn] for column in columns)) for drawn in blocks])

    return resampled


def _row_pearson(x: Float64, y: Float64) -> Float64:
    """Pearson's r of corresponding rows of two arrays [b, n]; 0 if a row is constant and r not defined."""
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    norms = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return np.divide((x * y).sum(axis=1), norms, out=np.zeros(len(x)), where=norms > 0).clip(-1.0, 1.0)


def _ranked(numbers: Int64) -> Float64:
    """Ranks of the numbers in each row, with tied ones at their mean rank, by counting: [b, n]."""
    different = int(numbers.max(initial=0)) + 1
    cells = numbers + different * np.arange(len(numbers))[:, None]
    counts = np.bincount(cells.ravel(), minlength=len(numbers) * different).reshape(len(numbers), different)
    return (counts.cumsum(axis=1) - (counts - 1) / 2).ravel()[cells]


def interval(samples: Float64) -> list[float]:
    """The 95 % percentile interval of bootstrap estimates, [low, high]."""
    low, high = np.percentile(samples, [2.5, 97.5])
    return [float(low), float(high)]


def paired_bootstrap(first: Figure, second: Figure, samples: int) -> float:
    """Two-sided p of the difference of two systems' figures on the same resamples (Efron 1979)."""
    difference = first.resampled(samples) - second.resampled(samples)
    below, above = np.count_nonzero(difference <= 0), np.count_nonzero(difference >= 0)
    return float(min(1.0, 2 * (min(below, above) + 1) / (samples + 1)))
