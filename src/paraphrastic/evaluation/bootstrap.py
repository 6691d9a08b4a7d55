"""Sampling error by the percentile bootstrap: resamples of the test data, drawn alike for every system."""

import zlib
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from scipy import stats

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

# Entries of a resample that are held at a time.
_BLOCK = 1 << 22


def draws(name: str, n: int, samples: int) -> Iterator[Int64]:
    """Indices of `samples` resamples of n items with replacement, in blocks [b, n].

    They depend on the arguments alone: every system meets the same resamples of the data set `name`.
    """
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    size = max(1, _BLOCK // max(1, n))
    for start in range(0, samples, size):
        yield generator.integers(n, size=(min(size, samples - start), n))


def _resampled(statistic: Callable[..., Float64], *columns: Float64, name: str, samples: int) -> Float64:
    """A statistic of the rows [b, n, …] of each block of resamples of n items, [samples, …]."""
    blocks = draws(name, len(columns[0]), samples)
    return np.concatenate([statistic(*(column[drawn] for column in columns)) for drawn in blocks])


def bootstrap_mean(values: Float64, *, name: str, samples: int) -> Float64:
    """Means of resamples of n values, such as hits and misses, [samples]."""
    return _resampled(lambda drawn: drawn.mean(axis=1), values, name=name, samples=samples)


def bootstrap_sums(parts: Float64, *, name: str, samples: int) -> Float64:
    """Sums over resamples of n rows of several numbers, [samples, k], for ratios such as F1."""
    return _resampled(lambda drawn: drawn.sum(axis=1), parts, name=name, samples=samples).astype(np.float64)


def bootstrap_pearson(scores: Float64, gold: Float64, *, name: str, samples: int) -> Float64:
    """Pearson's r of resamples of n pairs, [samples].

    A resample whose pairs all have one score has no correlation; it counts as 0.
    """
    return _resampled(_correlations, scores, gold, name=name, samples=samples)


def bootstrap_spearman(scores: Float64, gold: Float64, *, name: str, samples: int) -> Float64:
    """Spearman's ρ of resamples of n pairs, ranked anew, [samples]; else as `bootstrap_pearson`."""

    def ranked(scores: Float64, gold: Float64) -> Float64:
        return _correlations(stats.rankdata(scores, axis=1), stats.rankdata(gold, axis=1))

    return _resampled(ranked, scores, gold, name=name, samples=samples)


def _correlations(x: Float64, y: Float64) -> Float64:
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    norms = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return np.divide((x * y).sum(axis=1), norms, out=np.zeros(len(x)), where=norms > 0).clip(-1.0, 1.0)


def interval(samples: Float64) -> list[float]:
    """The 95 % percentile interval of bootstrap estimates, [low, high]."""
    low, high = np.percentile(samples, [2.5, 97.5])
    return [float(low), float(high)]
