"""An encoder trained by torch's autograd and optimizers: any encoder, and the reference for the kernels."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from paraphrastic.training.dataset import Sentences
from paraphrastic.training.loss import margin_loss
from paraphrastic.training.settings import TrainingSettings

# Sentences embedded together: few enough that the states of an LSTM stay small, 40 MB at 300 dimensions.
EMBED_BLOCK = 512
CPU = torch.device("cpu")


class AutogradEngine:
    """An encoder with dense Adam or AdamW; see `paraphrastic.training.engine.Engine`.

    The result depends on torch's number of threads. The encoder takes `Sentences`, and is moved to `device`.
    `anchors` are, by name, the values W₀ that the penalty λ‖W − W₀‖² holds parameters to; λ is
    `settings.initial_vectors_penalty` (ParaNMT-50M, section 4.2).
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
        self.steps_done = 0
        # AdamW without weight decay is Adam.
        self.optimizer = torch.optim.AdamW(
            encoder.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )

    @torch.no_grad()
    def embed(self, sentences: Sentences) -> Tensor:
        """Vectors of unit length by the parameters of the moment, without dropout, float32 [n, dimension]."""
        self.encoder.eval()
        # Sentences of about the same length together, so that an LSTM's last steps are not of a few only.
        order = np.argsort(sentences.lengths, kind="stable")
        blocks = [
            self.encoder(sentences.take(order[start : start + EMBED_BLOCK]))
            for start in range(0, len(order), EMBED_BLOCK)
        ]
        places = torch.from_numpy(np.argsort(order, kind="stable")).to(self.device)
        return torch.nn.functional.normalize(torch.cat(blocks)[places])

    def step(
        self, sentences: Sentences, chosen: npt.NDArray[np.int64], valid: npt.NDArray[np.bool_]
    ) -> float:
        """One mini-batch; see `Engine.step`."""
        # Seeded by step, so that dropout after a resumption is what it would have been without.
        torch.manual_seed(self.settings.seed * 1_000_003 + self.steps_done)
        self.encoder.train()
        s, t, t_negative, s_negative = self.encoder(sentences.take(chosen)).chunk(4)
        # The negatives t′ of s come first.
        loss = margin_loss(
            s,
            t,
            t_negative,
            s_negative,
            valid=torch.from_numpy(valid).to(self.device),
            margin=self.settings.margin,
        )
        for parameter, value in self.anchors:
            loss = loss + self.settings.initial_vectors_penalty * (parameter - value).square().sum()
        if self.settings.learning_rate_schedule == "linear":
            falling = self.settings.learning_rate * (1.0 - self.steps_done / self.steps)
            self.optimizer.param_groups[0]["lr"] = falling
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps_done += 1
        return loss.item()

    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """A copy of the parameters of the moment, by name."""
        return {
            name: parameter.detach().cpu().numpy().copy()
            for name, parameter in self.encoder.named_parameters()
        }

    def state(self) -> dict[str, Tensor]:
        """What `restore` needs to go on from here."""
        state = {"steps": torch.tensor(self.steps_done)}
        for name, parameter in self.encoder.named_parameters():
            state[f"parameters.{name}"] = parameter.detach().cpu()
            for key, value in self.optimizer.state[parameter].items():
                state[f"optimizer.{name}.{key}"] = value.cpu()
        return state

    @torch.no_grad()
    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go back to where `state` was called."""
        self.steps_done = int(state["steps"])
        for name, parameter in self.encoder.named_parameters():
            parameter.copy_(state[f"parameters.{name}"])
            prefix = f"optimizer.{name}."
            self.optimizer.state[parameter] = {
                key.removeprefix(prefix): value.to(self.device)
                for key, value in state.items()
                if key.startswith(prefix)
            }
