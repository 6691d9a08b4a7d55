"""Train any encoder with torch's autograd and AdamW; the kernels are tested against this engine."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from paraphrastic.base.arrays import Bool, Float32, Int64
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.loss import margin_loss, multiple_negatives_loss
from paraphrastic_pipeline.training.sentences import Sentences

# Sentences embedded at a time; this keeps the states of an LSTM small (40 MB at 300 dimensions).
EMBED_BLOCK = 512
# Distance between the seeds of two runs; the steps of a run use those between them.
_SEEDS = 1_000_003


class AutogradEngine:
    """Trains an encoder with dense Adam or AdamW; the reference for `FusedEngine`. See `engine.Engine`.

    The encoder takes `Sentences` and is moved to the settings' device. The result depends on torch's number
    of threads.

    Weight decay spares vectors: biases, and the gains of layer normalization (Dadas 2022, and Devlin et al.
    2019, appendix A.2).
    """

    def __init__(self, encoder: nn.Module, settings: TrainingSettings, *, steps: int) -> None:
        self.device = torch.device(settings.device)
        self.encoder = encoder.to(self.device)
        self.settings = settings
        self.steps = steps
        self.steps_done = 0
        self.parameters = list(encoder.parameters())
        matrices = [parameter for parameter in self.parameters if parameter.dim() > 1]
        vectors = [parameter for parameter in self.parameters if parameter.dim() < 2]
        groups: list[dict[str, Any]] = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
        # AdamW without weight decay is Adam.
        self.optimizer = torch.optim.AdamW(
            groups, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )
        self.block: int = getattr(encoder, "embed_block", EMBED_BLOCK)

    @torch.no_grad()
    def embed(self, sentences: Sentences) -> Tensor:
        """Embed with the current parameters, without dropout: unit vectors, float32 [n, dimension]."""
        self.encoder.eval()
        # Blocks hold sentences of similar lengths: otherwise an LSTM's last steps would serve only a few.
        order = np.argsort(sentences.lengths, kind="stable")
        blocks = [
            self._encode(sentences.take(order[start : start + self.block]))
            for start in range(0, len(order), self.block)
        ]
        places = torch.from_numpy(np.argsort(order, kind="stable")).to(self.device)
        return nn.functional.normalize(torch.cat(blocks)[places])

    def step(self, sentences: Sentences, chosen: Int64, allowed: Bool) -> float | Tensor:
        """Train on one mini-batch, and return its loss."""
        self._begin_step()
        self.optimizer.zero_grad()
        loss = self._loss(self._encode(sentences.take(chosen)), torch.from_numpy(allowed).to(self.device))
        loss.backward()
        self._clip()
        self.optimizer.step()
        self.steps_done += 1
        return loss.item()

    def _begin_step(self) -> None:
        self.encoder.train()
        self._set_rate(self.settings.learning_rate * self._rate())
        # Each step has its own seed, so a resumed run has the same dropout as an uninterrupted one.
        torch.manual_seed(self.settings.run_seed * _SEEDS + self.steps_done)

    def _set_rate(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def _clip(self) -> None:
        if self.settings.max_gradient_norm is not None:
            nn.utils.clip_grad_norm_(self.parameters, self.settings.max_gradient_norm)

    def _loss(self, vectors: Tensor, allowed: Tensor) -> Tensor:
        if self.settings.loss == "margin":
            return margin_loss(vectors.chunk(4), allowed, margin=self.settings.margin)
        return multiple_negatives_loss(vectors.chunk(2), allowed, scale=self.settings.scale)

    def _encode(self, sentences: Sentences) -> Tensor:
        short = self.settings.precision == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=short):
            vectors: Tensor = self.encoder(sentences)
        return vectors.float()

    def _rate(self) -> float:
        """The learning rate of this step, as a share of its peak."""
        warm = math.ceil(self.settings.warmup * self.steps)
        if self.steps_done < warm:
            return self.steps_done / warm
        if self.settings.learning_rate_schedule == "constant":
            return 1.0
        return max(0.0, (self.steps - self.steps_done) / max(1, self.steps - warm))

    def weights(self) -> dict[str, Float32]:
        """Copies of the current parameters, by name."""
        parameters = self.encoder.named_parameters()
        return {name: parameter.detach().cpu().numpy().copy() for name, parameter in parameters}

    def state(self) -> dict[str, Tensor]:
        """The state that `restore` needs to continue from here."""
        state = {"steps": torch.tensor(self.steps_done)}
        for name, parameter in self.encoder.named_parameters():
            state[f"parameters.{name}"] = parameter.detach().cpu()
            for key, value in self.optimizer.state[parameter].items():
                state[f"optimizer.{name}.{key}"] = value.cpu()
        return state

    @torch.no_grad()
    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Continue from the point at which `state` was called."""
        self.steps_done = int(state["steps"])
        for name, parameter in self.encoder.named_parameters():
            parameter.copy_(state[f"parameters.{name}"])
            prefix = f"optimizer.{name}."
            self.optimizer.state[parameter] = {
                key.removeprefix(prefix): value.to(self.device)
                for key, value in state.items()
                if key.startswith(prefix)
            }
