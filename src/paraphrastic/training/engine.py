"""What the training loop asks of the code that holds parameters: a small interface, and who implements it."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraphrastic.base.threads import Workers
from paraphrastic.config.architecture import Architecture
from paraphrastic.training.autograd import AutogradEngine
from paraphrastic.training.dataset import Sentences
from paraphrastic.training.device.engine import DeviceEngine
from paraphrastic.training.encoder import TrainableEncoder
from paraphrastic.training.fused import FusedEngine
from paraphrastic.training.settings import Engine as EngineName
from paraphrastic.training.settings import TrainingSettings

CPU = torch.device("cpu")


class Engine(Protocol):
    """Parameters and optimizer of a run, a mini-batch at a time; `DeviceEngine` takes whole mega-batches.

    To ask for `table` or `state` changes no digit of what follows.
    """

    def embed(self, sentences: Sentences) -> Tensor:
        """Vectors of unit length by the parameters of the moment, without dropout, float32 [n, dimension]."""

    def step(
        self, sentences: Sentences, chosen: npt.NDArray[np.int64], valid: npt.NDArray[np.bool_]
    ) -> float:
        """One mini-batch of n pairs: loss, gradient, optimizer; the loss.

        Args:
            sentences: of the mega-batch.
            chosen: [4n], which of them are s, t, t′ and s′.
            valid: bool [2, n], false where s (first row) or t (second row) has no negative.
        """

    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """A copy of the parameters of the moment, under the names that they have in the encoder."""

    def state(self) -> dict[str, Tensor]:
        """What `restore` needs to go on from here."""

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go back to where `state` was called."""


def choose_engine(settings: TrainingSettings, architecture: Architecture) -> EngineName:
    """The engine that the settings ask for; `auto` is `fused` for what it can train."""
    fused = architecture.averaged and settings.initial_vectors_penalty == 0.0
    if settings.engine == "fused" and not fused:
        raise ValueError("the fused engine trains one averaged part, without a penalty")
    return ("fused" if fused else "autograd") if settings.engine == "auto" else settings.engine


def build_engine(
    encoder: TrainableEncoder,
    settings: TrainingSettings,
    workers: Workers,
    *,
    device: torch.device = CPU,
    anchors: Mapping[str, Tensor] | None = None,
    steps: int,
) -> Engine | DeviceEngine:
    """The engine that the settings name, `fused` or `autograd`, on `device`, before training.

    `anchors` are what the penalty holds parameters to, by their names; the learning rate falls, where it
    does, over the run's `steps`.
    """
    if settings.engine == "autograd":
        return AutogradEngine(encoder, settings, device=device, anchors=anchors, steps=steps)
    table = encoder.get_parameter("parts.0.table").detach()
    if device.type == "cpu":
        return FusedEngine(table, settings, workers, steps=steps)
    return DeviceEngine(table, settings, device, steps=steps)
