"""What an evaluation leaves behind: figures with their sampling error, and what comparing systems takes."""

import hashlib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, read_json, write_json
from paraphrastic.evaluation.bootstrap import (
    bootstrap_mean,
    bootstrap_pearson,
    bootstrap_spearman,
    interval,
)
from paraphrastic.evaluation.correlation import pearson, spearman
from paraphrastic.model.system import System

Float64 = npt.NDArray[np.float64]
Source = Literal["measured", "untrained"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One figure of a system.

    Attributes:
        value: in its own unit: a correlation, or a share from 0 to 1.
        samples: [B], the same figure of B bootstrap resamples of the test data, which are drawn alike for all
            systems, so that the difference of two systems' samples is a paired bootstrap.
        n: pairs, sentences or whatever else was resampled.
        digest: of the test data, gold included. Figures with the same digest and B can be compared.
        higher_is_better: false for an error rate.
        scores: [n], of a correlation of one dataset, what the system gave each pair; None for other figures.
        gold: [n], what people gave it.
    """

    value: float
    samples: Float64
    n: int
    digest: str
    higher_is_better: bool = True
    scores: Float64 | None = None
    gold: Float64 | None = None


def correlations(
    scores: Float64, gold: Float64, *, name: str, at: str, digest: str, samples: int
) -> Iterator[tuple[str, Measurement]]:
    """Both correlations of a dataset, `pearson {name}` and `spearman {name}`.

    Args:
        scores: cosines of the pairs, [n].
        gold: people's scores, [n].
        name: of the dataset, which decides the resamples.
        at: where it stands, for errors.
        digest: of the dataset.
        samples: bootstrap resamples; the same pairs in both correlations.
    """
    ranks, gold_ranks = stats.rankdata(scores), stats.rankdata(gold)
    for kind, correlation, bootstrap, kept in (
        ("pearson", pearson, bootstrap_pearson, (scores, gold)),
        ("spearman", spearman, bootstrap_spearman, (ranks, gold_ranks)),
    ):
        yield (
            f"{kind} {name}",
            Measurement(
                value=correlation(scores, gold, name=at),
                samples=bootstrap(scores, gold, name=name, samples=samples),
                n=len(gold),
                digest=digest,
                scores=kept[0],
                gold=kept[1],
            ),
        )


def share(
    hits: npt.NDArray[np.bool_], *, name: str, digest: str, samples: int, higher_is_better: bool = True
) -> Measurement:
    """The share of n items that are hits, such as an accuracy or, of misses, an error rate."""
    values = hits.astype(np.float64)
    return Measurement(
        value=float(values.mean()),
        samples=bootstrap_mean(values, name=name, samples=samples),
        n=len(hits),
        digest=digest,
        higher_is_better=higher_is_better,
    )


def mean_of(measurements: Sequence[Measurement]) -> Measurement:
    """The mean of figures on several test sets; each resample has its own of all of them."""
    digests = "".join(each.digest for each in measurements)
    return Measurement(
        value=float(np.mean([each.value for each in measurements])),
        samples=np.mean([each.samples for each in measurements], axis=0),
        n=sum(each.n for each in measurements),
        digest=hashlib.sha256(digests.encode()).hexdigest(),
        higher_is_better=measurements[0].higher_is_better,
    )


def write_result(
    result: Path,
    encoder: System,
    measurements: Mapping[str, Measurement],
    *,
    task: str,
    source: Source,
    official: bool,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Write a result: `result`, JSON for reading, and beside it `.npz` with what comparisons need.

    Args:
        result: the JSON file; the other file is named as `samples_of` says.
        encoder: the system.
        measurements: by name, such as `pearson 2012/MSRpar` or `error fr-en`.
        task: name of the evaluation.
        source: whether the system was trained.
        official: whether all test data are those of the published figures.
        details: what else is to be said, by key.

    Raises:
        InputError: a figure is not finite.
    """
    for name, measurement in measurements.items():
        if not (np.isfinite(measurement.value) and np.isfinite(measurement.samples).all()):
            raise InputError(f"{result}: {encoder.label}: {name} is not finite: {measurement.value}")
    with atomic_output(samples_of(result)) as temporary, temporary.open("wb") as file:
        arrays = {
            f"{kind}/{name}": array
            for name, measurement in measurements.items()
            for kind in ("samples", "scores", "gold")
            if (array := getattr(measurement, kind)) is not None
        }
        np.savez_compressed(file, **arrays)
    write_json(
        result,
        {
            "task": task,
            "system": encoder.label,
            "source": source,
            "data": "official" if official else "sample",
            "dim": encoder.dim,
            "digest": encoder.digest,
            "measurements": {
                name: {
                    "value": float(measurement.value),
                    "interval": interval(measurement.samples),
                    "n": int(measurement.n),
                    "digest": measurement.digest,
                    "higher_is_better": measurement.higher_is_better,
                }
                for name, measurement in measurements.items()
            },
            **(details or {}),
        },
    )


def samples_of(result: Path) -> Path:
    """The file beside a result that holds its bootstrap samples."""
    return result.with_suffix(".npz")


class Result:
    """A result as `write_result` wrote it; samples are read when they are asked for.

    Raises:
        InputError: a file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, Any] = read_json(path)
        if not isinstance(self.content, dict) or "measurements" not in self.content:
            raise InputError(f"{path}: is no result of an evaluation")

    @property
    def official(self) -> bool:
        """Whether all test data are those of the published figures."""
        return bool(self.content["data"] == "official")

    def __contains__(self, name: str) -> bool:
        return name in self.content["measurements"]

    def measurement(self, name: str) -> Measurement:
        """The figure of this name, with its samples."""
        written, arrays = self.content["measurements"][name], self._arrays
        return Measurement(
            value=written["value"],
            samples=arrays[f"samples/{name}"],
            n=written["n"],
            digest=written["digest"],
            higher_is_better=written["higher_is_better"],
            scores=arrays.get(f"scores/{name}"),
            gold=arrays.get(f"gold/{name}"),
        )

    @cached_property
    def _arrays(self) -> dict[str, Float64]:
        path = samples_of(self.path)
        try:
            with np.load(path, allow_pickle=False) as file:
                return dict(file)
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise InputError(f"{path}: not readable: {error}") from None
