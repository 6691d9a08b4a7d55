"""Checkpoints, from which a killed run resumes."""

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import safetensors
from safetensors.torch import save_file
from torch import Tensor

from paraphrastic.base.files import atomic_output

log = logging.getLogger(__name__)


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
    epoch_loss: float = 0.0
    """Sum of the losses of these pairs."""
    with_negative: int = 0
    """Number of sentences in the current epoch that had a negative."""
    line_loss: float = 0.0
    """Sum of the losses of the pairs since the last line of the history."""
    line_pairs: int = 0
    """Number of these pairs."""
    line_seconds: float = 0.0
    """Value of `seconds` at that line."""
    history_bytes: int = 0
    """Size of the history's file."""
    development: float | None = None
    """The last score."""
    best: float | None = None
    """The best score."""
    since_best: int = 0
    """Number of scores since the best one."""


class Checkpoints:
    """The newest checkpoints of a run, in a folder that is created with the first one.

    `identity` tells the run from runs with other settings or data.
    """

    def __init__(self, folder: Path, *, identity: str) -> None:
        self.folder = folder
        self.identity = identity
        # The newest checkpoint of this run; one left by another run may have a higher number.
        self._newest: Path | None = None

    def save(self, state: Mapping[str, Tensor], progress: Progress) -> None:
        """Write an engine's state and the progress to one file, atomically; keep the two newest files."""
        metadata = {"identity": self.identity, "progress": json.dumps(asdict(progress))}
        metadata["sha256"] = _digest(state, metadata)
        path = self.folder / f"{progress.batches_read:012d}.safetensors"
        with atomic_output(path) as temporary:
            save_file(dict(state), temporary, metadata)
        for other in self._newest_first():
            if other not in (path, self._newest):
                other.unlink()
        self._newest = path

    def load(self) -> tuple[Progress, dict[str, Tensor]] | None:
        """Load the newest intact checkpoint of this run, or return None if there is none.

        The log names every file that is skipped, and says why.
        """
        for path in self._newest_first():
            try:
                with safetensors.safe_open(path, framework="pt") as file:
                    metadata = file.metadata() or {}
                    state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
                if metadata.pop("sha256", None) != _digest(state, metadata):
                    raise ValueError("its digest does not match")
            except (safetensors.SafetensorError, OSError, ValueError) as error:
                log.warning("%s: is damaged and not used: %s", path, error)
                continue
            if metadata["identity"] != self.identity:
                log.info("%s: was made with other settings or data and is not used", path)
                continue
            self._newest = path
            progress = Progress(**json.loads(metadata["progress"]))
            log.info("%s: continuing after %d mini-batches", path, progress.batches_read)
            return progress, state
        if self.folder.exists():
            log.info("%s: there is no checkpoint to continue from, so training starts anew", self.folder)
        return None

    def _newest_first(self) -> list[Path]:
        return sorted(self.folder.glob("[0-9]*.safetensors"), reverse=True)


def _digest(state: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name, tensor in sorted(state.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.contiguous().reshape(-1).numpy().data)
    return digest.hexdigest()
