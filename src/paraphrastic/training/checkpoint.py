"""Checkpoints, from which a run that was killed goes on."""

import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path

import safetensors
import torch
from safetensors.torch import save_file
from torch import Tensor

from paraphrastic.files import atomic_output

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands between two epochs."""

    epoch: int = 0
    batches_read: int = 0


def save_checkpoint(
    path: Path, table: Tensor, optimizer: torch.optim.Adam, progress: Progress, *, identity: str
) -> None:
    """Write parameters, optimizer state and progress under one name, at once.

    `identity` tells the run apart from runs of other settings or data; see `load_checkpoint`.
    """
    state = optimizer.state[table]
    tensors = {"table": table.detach(), **{name: state[name] for name in ("step", "exp_avg", "exp_avg_sq")}}
    metadata = {"identity": identity, "progress": json.dumps(asdict(progress))}
    with atomic_output(path) as temporary:
        save_file(tensors, temporary, metadata)


def load_checkpoint(path: Path, table: Tensor, optimizer: torch.optim.Adam, *, identity: str) -> Progress:
    """Restore the state that `save_checkpoint` wrote; the beginning, where there is none of this run."""
    if not path.exists():
        return Progress()
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (safetensors.SafetensorError, OSError) as error:
        log.warning("%s: damaged, training starts over: %s", path, error)
        return Progress()
    if metadata.get("identity") != identity:
        log.info("%s: of other settings or data, training starts over", path)
        return Progress()
    with torch.no_grad():
        table.copy_(tensors.pop("table"))
    optimizer.state[table] = tensors
    progress = Progress(**json.loads(metadata["progress"]))
    log.info("%s: going on after epoch %d", path, progress.epoch)
    return progress
