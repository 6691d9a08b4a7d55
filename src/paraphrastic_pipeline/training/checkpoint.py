"""Checkpoints, from which a killed run resumes."""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import safetensors
import torch
from safetensors.torch import save_file

from paraphrastic.base.files import atomic_output
from paraphrastic_pipeline.training.engine import Engine, Weights

log = logging.getLogger(__name__)

# With early stopping, a checkpoint also holds the best parameters, under names with this prefix.
_BEST = "best."


@dataclass(slots=True)
class Progress:
    """Where a run stands between two mega-batches."""

    epoch: int = 0
    """Epochs that are done."""
    pairs_read: int = 0
    """Pairs that were read in the current epoch."""
    batches_read: int = 0
    """Mini-batches of the whole run."""
    seconds: float = 0.0
    """Time of the run without scores, with that of killed processes up to their last checkpoint."""
    line_loss: float = 0.0
    """Sum of the losses of the pairs since the last line of the history."""
    line_pairs: int = 0
    """Number of these pairs."""
    line_seconds: float = 0.0
    """Value of `seconds` at that line."""
    best: float | None = None
    """The best score."""
    since_best: int = 0
    """Number of scores since the best one."""
    lines: list[str] = field(default_factory=list)
    """The history so far."""

    def add(self, loss: float, pairs: int) -> None:
        """Count a mini-batch."""
        self.batches_read += 1
        self.pairs_read += pairs
        self.line_loss += loss * pairs
        self.line_pairs += pairs

    def is_best(self, score: float) -> bool:
        """Count a score, and tell whether it is the best one so far."""
        better = self.best is None or score > self.best
        self.best, self.since_best = (score, 0) if better else (self.best, self.since_best + 1)
        return better


class Checkpoint:
    """The newest checkpoint of a run, a file that is written under another name and renamed.

    `identity` tells the run from runs with other settings or data. A checkpoint is due after some `minutes`.
    """

    def __init__(self, path: Path, *, identity: str, minutes: float) -> None:
        self.path, self.identity, self.minutes = path, identity, minutes
        self._last = time.monotonic()

    def is_due(self) -> bool:
        """Whether the last checkpoint is old enough for another one."""
        return time.monotonic() - self._last >= 60 * self.minutes

    def save(self, engine: Engine, best: Weights, progress: Progress) -> None:
        """Write the engine's state, the best parameters and the progress."""
        state = engine.state() | {_BEST + name: torch.from_numpy(array) for name, array in best.items()}
        about = {"identity": self.identity, "progress": json.dumps(asdict(progress))}
        with atomic_output(self.path) as temporary:
            save_file(state, temporary, about)
        self._last = time.monotonic()

    def load(self, engine: Engine) -> tuple[Progress, Weights]:
        """Restore the engine, and return the progress and the best parameters; a new run has neither."""
        if not self.path.is_file():
            return Progress(), {}
        with safetensors.safe_open(self.path, framework="pt") as file:
            about: Mapping[str, str] = file.metadata()
            if about["identity"] != self.identity:
                log.info("%s: was made with other settings or data and is not used", self.path)
                return Progress(), {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
        best = {
            name.removeprefix(_BEST): tensors.pop(name).numpy()
            for name in [*tensors]
            if name.startswith(_BEST)
        }
        engine.restore(tensors)
        progress = Progress(**json.loads(about["progress"]))
        log.info("%s: continuing after %d mini-batches", self.path, progress.batches_read)
        return progress, best
