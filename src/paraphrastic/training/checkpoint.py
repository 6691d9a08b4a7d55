"""Checkpoints, from which a run that was killed goes on."""

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import safetensors
from safetensors.torch import save_file
from torch import Tensor

from paraphrastic.files import atomic_output

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands between two epochs."""

    epoch: int = 0
    batches_read: int = 0


def save_checkpoint(path: Path, state: Mapping[str, Tensor], progress: Progress, *, identity: str) -> None:
    """Write an engine's state and the progress under one name, at once.

    `identity` tells the run apart from runs of other settings or data; see `load_checkpoint`.
    """
    metadata = {"identity": identity, "progress": json.dumps(asdict(progress))}
    with atomic_output(path) as temporary:
        save_file(dict(state), temporary, metadata)


def load_checkpoint(path: Path, *, identity: str) -> tuple[Progress, dict[str, Tensor]] | None:
    """What `save_checkpoint` wrote; None, where there is none of this run."""
    if not path.exists():
        return None
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (safetensors.SafetensorError, OSError) as error:
        log.warning("%s: damaged, training starts over: %s", path, error)
        return None
    if metadata.get("identity") != identity:
        log.info("%s: of other settings or data, training starts over", path)
        return None
    progress = Progress(**json.loads(metadata["progress"]))
    log.info("%s: going on after epoch %d", path, progress.epoch)
    return progress, state
