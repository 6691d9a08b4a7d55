"""Checkpoints, from which a run that was killed goes on."""

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import safetensors
from safetensors.torch import save_file
from torch import Tensor

from paraphrastic.base.files import atomic_output

log = logging.getLogger(__name__)

KEPT = 2


@dataclass(slots=True)
class Progress:
    """Where a run stands between two mega-batches."""

    epoch: int = 0
    """Epochs that are done."""
    pairs_read: int = 0
    """Of the epoch that is not."""
    batches_read: int = 0
    """Mini-batches of the whole run."""
    seconds: float = 0.0
    """Spent, also by processes that were killed, up to what they saved."""
    epoch_loss: float = 0.0
    """Sum over the pairs that were read of the epoch."""
    with_negative: int = 0
    """Sentences of the epoch that had a negative."""
    line_loss: float = 0.0
    """Sum over the pairs since the last line of the history; the next two are of that line, too."""
    line_pairs: int = 0
    line_seconds: float = 0.0
    development: float | None = None
    """The last score."""
    best: float | None = None
    """The best score."""
    since_best: int = 0
    """Scores since then."""


class Checkpoints:
    """The newest checkpoints of a run, in a folder of their own.

    Args:
        folder: of the run; it is made with the first checkpoint.
        identity: tells the run apart from runs of other settings or data.
    """

    def __init__(self, folder: Path, *, identity: str) -> None:
        self.folder = folder
        self.identity = identity

    def save(self, state: Mapping[str, Tensor], progress: Progress) -> None:
        """Write an engine's state and the progress under one name, at once; the two newest are kept."""
        metadata = {"identity": self.identity, "progress": json.dumps(asdict(progress))}
        metadata["sha256"] = _digest(state, metadata)
        path = self.folder / f"{progress.batches_read:012d}.safetensors"
        before = [other for other in self._newest_first() if other != path]
        with atomic_output(path) as temporary:
            save_file(dict(state), temporary, metadata)
        # Those of this run are the last that were written: one of another run may have a higher number.
        own = [other for other in before if other.name < path.name and _identity(other) == self.identity]
        for other in set(before) - set(own[: KEPT - 1]):
            other.unlink()

    def load(self) -> tuple[Progress, dict[str, Tensor]] | None:
        """What `save` wrote last and is whole; None, where there is nothing of this run.

        The log names every file that is not used, and why.
        """
        for path in self._newest_first():
            try:
                with safetensors.safe_open(path, framework="pt") as file:
                    metadata = file.metadata() or {}
                    state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
                if metadata.pop("sha256", None) != _digest(state, metadata):
                    raise ValueError("its digest is another")
            except (safetensors.SafetensorError, OSError, ValueError) as error:
                log.warning("%s: damaged, not used: %s", path, error)
                continue
            if metadata["identity"] != self.identity:
                log.info("%s: of other settings or data, not used", path)
                continue
            progress = Progress(**json.loads(metadata["progress"]))
            log.info("%s: going on after %d mini-batches", path, progress.batches_read)
            return progress, state
        if self.folder.exists():
            log.info("%s: no checkpoint to go on from: training starts anew", self.folder)
        return None

    def remove(self) -> None:
        """Remove the folder, after the run."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _newest_first(self) -> list[Path]:
        return sorted(self.folder.glob("[0-9]*.safetensors"), reverse=True)


def _identity(path: Path) -> str | None:
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            return (file.metadata() or {}).get("identity")
    except (safetensors.SafetensorError, OSError):
        return None


def _digest(state: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for part in _parts(state):
        digest.update(part)
    return digest.hexdigest()


def _parts(state: Mapping[str, Tensor]) -> Iterator[bytes | memoryview]:
    for name in sorted(state):
        yield f"{name} {state[name].dtype} {tuple(state[name].shape)}".encode()
        yield state[name].contiguous().reshape(-1).numpy().data
