"""Train any encoder with torch's autograd and AdamW; the kernels are tested against this engine."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from paraphrastic.base.arrays import Bool, Float32, Int64
from paraphrastic.model.recurrent import RecurrentPooling
from paraphrastic.training.loss import margin_loss
from paraphrastic.training.sentences import Sentences
from paraphrastic.training.settings import TrainingSettings

# Sentences embedded at a time; this keeps the states of an LSTM small (40 MB at 300 dimensions).
EMBED_BLOCK = 512
CPU = torch.device("cpu")


class AutogradEngine:
    """Trains an encoder with dense Adam or AdamW; the reference for `FusedEngine`.

    The encoder takes `Sentences` and is moved to `device`. The result depends on torch's number of threads.
    Two penalties can be added to the loss (ParaNMT-50M, section 4.2; the code of that paper halves both).
    λ_w‖W − W₀‖² is for the parameters in `anchors`, which maps their names to the values W₀, and λ_w is
    `settings.initial_vectors_penalty`. λ_c‖W_c‖² is for all weights and biases of LSTMs, and λ_c is
    `settings.composition_penalty`.
    """

    def __init__(
        self,
        encoder: nn.Module,
        settings: TrainingSettings,
        *,
        device: torch.device = CPU,
        anchors: Mapping[str, Tensor] | None = None,
        steps: int,
    ) -> None:
        if settings.optimizer == "lazy_adam":
            raise ValueError("lazy_adam is for the fused engine")
        self.encoder = encoder.to(device)
        self.device = device
        self.settings = settings
        self.steps = steps
        held = anchors if anchors and settings.initial_vectors_penalty > 0 else {}
        self.anchors = [(encoder.get_parameter(name), value.to(device)) for name, value in held.items()]
        lstms = [module for module in encoder.modules() if isinstance(module, RecurrentPooling)]
        penalized = lstms if settings.composition_penalty > 0 else []
        self.composition = [parameter for lstm in penalized for parameter in lstm.parameters()]
        self.steps_done = 0
        # AdamW without weight decay is Adam.
        self.optimizer = torch.optim.AdamW(
            encoder.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )

    @torch.no_grad()
    def embed(self, sentences: Sentences) -> Tensor:
        """Embed with the current parameters, without dropout: unit vectors, float32 [n, dimension]."""
        self.encoder.eval()
        # Blocks hold sentences of similar lengths: otherwise an LSTM's last steps would serve only a few.
        order = np.argsort(sentences.lengths, kind="stable")
        blocks = [
            self.encoder(sentences.take(order[start : start + EMBED_BLOCK]))
            for start in range(0, len(order), EMBED_BLOCK)
        ]
        places = torch.from_numpy(np.argsort(order, kind="stable")).to(self.device)
        return torch.nn.functional.normalize(torch.cat(blocks)[places])

    def step(self, sentences: Sentences, chosen: Int64, valid: Bool) -> float:
        """Train on one mini-batch of n pairs and return its loss.

        Args:
            sentences: all sentences of the mega-batch.
            chosen: int64 [4n], indices in `sentences`: s of every pair, then t, t′ and s′.
            valid: bool [2, n], false where s (first row) or t (second row) has no negative.
        """
        # Each step has its own seed, so a resumed run has the same dropout as an uninterrupted one.
        torch.manual_seed(self.settings.seed * 1_000_003 + self.steps_done)
        self.encoder.train()
        vectors = self.encoder(sentences.take(chosen)).chunk(4)
        loss = margin_loss(vectors, torch.from_numpy(valid).to(self.device), margin=self.settings.margin)
        for parameter, value in self.anchors:
            loss = loss + self.settings.initial_vectors_penalty * (parameter - value).square().sum()
        for parameter in self.composition:
            loss = loss + self.settings.composition_penalty * parameter.square().sum()
        if self.settings.learning_rate_schedule == "linear":
            falling = self.settings.learning_rate * (1.0 - self.steps_done / self.steps)
            self.optimizer.param_groups[0]["lr"] = falling
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps_done += 1
        return loss.item()

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
