"""What the training loop asks of the code that holds parameters: a small interface, and who implements it."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraphrastic.dataset import Sentences
from paraphrastic.training.autograd import AutogradEngine
from paraphrastic.training.compiled import Team
from paraphrastic.training.encoder import AveragedEmbeddings
from paraphrastic.training.fused import FusedEngine
from paraphrastic.training.settings import TrainingSettings


class Engine(Protocol):
    """Parameters and optimizer of a run.

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

    def table(self) -> npt.NDArray[np.float32]:
        """A copy of the embeddings, float32 [rows, dimension]."""

    def state(self) -> dict[str, Tensor]:
        """What `restore` needs to go on from here."""

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go back to where `state` was called."""


def initial_encoder(counts: npt.NDArray[np.int64], settings: TrainingSettings) -> AveragedEmbeddings:
    """The encoder before training, by the seed; `counts` says how often each row occurs, [rows]."""
    encoder = AveragedEmbeddings(
        len(counts),
        settings.dimension,
        init_std=settings.init_std,
        seed=settings.seed,
        dropout=settings.dropout,
    )
    if settings.init_sif is not None:
        scales = settings.init_sif / (settings.init_sif + counts / counts.sum())
        encoder.table.data *= torch.from_numpy(scales.astype(np.float32))[:, None]
    return encoder


def build_engine(
    counts: npt.NDArray[np.int64], settings: TrainingSettings, team: Team, *, steps: int
) -> Engine:
    """The engine of the settings, before training.

    Args:
        counts: how often each row of the table occurs in the training pairs, [rows].
        settings: hyperparameters.
        team: the threads.
        steps: of the run.
    """
    encoder = initial_encoder(counts, settings)
    if settings.engine == "fused":
        return FusedEngine(encoder.table.detach(), settings, team, steps=steps)
    return AutogradEngine(encoder, settings, steps=steps)
