"""Results of evaluations: the figures of a system on a task, with their intervals and the data's digests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from paraphrastic.base.files import Json, read_json
from paraphrastic_pipeline.evaluation.testset_names import LICENSED

Source = Literal["measured", "untrained"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure, its 95 % interval as [low, high], and the number of items that it is measured on."""

    value: float
    interval: list[float]
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the JSON file of a system and a task says.

    Attributes:
        task: name of the task.
        system: the encoder's label.
        source: whether the encoder was trained.
        data: `official` if all data sets are and the encoder was not trained on a sample, or else `sample`; a
            model's held-out pairs are its `own`.
        dim: dimension of the vectors.
        digest: the encoder's digest.
        measurements: figures by name.
        datasets: the `digest` of each data set, whether it is `official`, and what the evaluation says
            about it.
    """

    task: str
    system: str
    source: Source
    data: str
    dim: int
    digest: str
    measurements: Mapping[str, Measured]
    datasets: Mapping[str, Json]

    @classmethod
    def read(cls, path: str | Path) -> "Result":
        """Read what `write_result` has written."""
        content = read_json(path)
        measured = {name: Measured(**figure) for name, figure in content.pop("measurements").items()}
        return cls(**content, measurements=measured)

    @property
    def without(self) -> str:
        """What the means are without, such as `2013 without SMT`; empty if they lack nothing."""
        lacks = self.task == "sts" and "/".join(LICENSED) not in self.datasets
        return " without ".join(LICENSED) if lacks else ""

    @property
    def name(self) -> str:
        """The name of the system, with a note on what its means are without."""
        return self.system + (f" ({self.without})" if self.without else "")


def percent(value: float, digits: int = 1) -> str:
    """A figure × 100."""
    return f"{100 * value:.{digits}f}"


def bracketed(interval: Sequence[str]) -> str:
    """An interval as text, from its ends: `[64.7, 67.3]`."""
    return f"[{', '.join(interval)}]"
