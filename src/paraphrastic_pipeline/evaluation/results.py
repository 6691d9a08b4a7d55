"""Results of evaluations: figures for reading, and the samples that comparisons of systems need."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from paraphrastic.base.arrays import Float64
from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import atomic_output, read_json, sha256, write_json
from paraphrastic.model.encoder import Encoder
from paraphrastic_pipeline.evaluation.measurement import Measurement, interval

Source = Literal["measured", "untrained"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Which encoder is evaluated, how, and where its result goes.

    Attributes:
        encoder: the encoder.
        result: the JSON file to write, see `write_result`.
        official: JSON file with the digests of the official data, by data set; None if there are none.
        source: whether the encoder was trained.
        bootstrap_samples: number of resamples of the test data, for the intervals.
        sample: whether the encoder was trained on a sample, so that its result is not official.
        threads: number of CPU threads, besides those of the encoder.
    """

    encoder: Encoder
    result: Path
    official: Path | None
    source: Source
    bootstrap_samples: int
    sample: bool = False
    threads: int = 1

    def official_digests(self) -> dict[str, Any]:
        """The digests of the official data, by data set."""
        return read_json(self.official) if self.official else {}

    def write(
        self, task: str, measurements: Mapping[str, Measurement], sets: Mapping[str, Any], **details: Any
    ) -> None:
        """Write the result, which is official if every entry of `sets`, one per data set, is `official`."""
        write_result(
            self.result,
            self.encoder,
            measurements,
            task=task,
            source=self.source,
            official=not self.sample and all(about["official"] for about in sets.values()),
            details=details,
        )


def write_result(
    result: Path,
    encoder: Encoder,
    measurements: Mapping[str, Measurement],
    *,
    task: str,
    source: Source,
    official: bool,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Write a result as JSON, and beside it a `.npz` file with the arrays that comparisons need.

    Args:
        result: the JSON file; `samples_of` gives the name of the other one.
        encoder: the encoder that was evaluated.
        measurements: figures by name, such as `pearson 2012/MSRpar` or `error fr-en`.
        task: name of the evaluation.
        source: whether the encoder was trained.
        official: whether the figures can be compared with published ones: all test data are the same, and
            the encoder was not trained on a sample.
        details: further keys of the JSON file.

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
            "samples_sha256": sha256(samples_of(result)),
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
    """A result written by `write_result`; its samples are read when they are first needed.

    Raises:
        InputError: a file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, Any] = read_json(path)
        if not isinstance(self.content, dict) or "measurements" not in self.content:
            raise InputError(f"{path}: is not a result of an evaluation")

    @property
    def official(self) -> bool:
        """Whether all test data are the same as for the published figures."""
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
            model_digest=str(self.content["digest"]),
        )

    @cached_property
    def _arrays(self) -> dict[str, Float64]:
        path = samples_of(self.path)
        try:
            if sha256(path) != self.content.get("samples_sha256"):
                raise InputError(f"{path}: damaged: its sha256 is not the one in {self.path.name}")
            with np.load(path, allow_pickle=False) as file:
                return dict(file)
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise InputError(f"{path}: not readable: {on_one_line(error)}") from None
