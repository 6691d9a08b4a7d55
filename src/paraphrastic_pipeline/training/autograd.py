"""Train any encoder with torch's autograd and AdamW; the kernels are tested against this engine."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from paraphrastic.base.arrays import Bool, Float16, Float32, Int64
from paraphrastic.model.recurrent import RecurrentPooling
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.loss import cosines_loss, margin_loss, multiple_negatives_loss
from paraphrastic_pipeline.training.sentences import Sentences

# Sentences embedded at a time; this keeps the states of an LSTM small (40 MB at 300 dimensions).
EMBED_BLOCK = 512
CPU = torch.device("cpu")
# Distance between the seeds of two runs; the steps of a run use those between them.
_SEEDS = 1_000_003
_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


class AutogradEngine:
    """Trains an encoder with dense Adam or AdamW; the reference for `FusedEngine`.

    The encoder takes `Sentences` and is moved to `device`. The result depends on torch's number of threads.
    Two penalties can be added to the loss (ParaNMT-50M, section 4.2; the code of that paper halves both).
    λ_w‖W − W₀‖² is for the parameters in `anchors`, which maps their names to the values W₀, and λ_w is
    `settings.initial_vectors_penalty`. λ_c‖W_c‖² is for all weights and biases of LSTMs, and λ_c is
    `settings.composition_penalty`.

    Weight decay spares vectors: biases, and the gains of layer normalization (Dadas 2022, and Devlin et al.
    2019, appendix A.2).
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
        self.parameters = list(encoder.parameters())
        matrices = [parameter for parameter in self.parameters if parameter.dim() > 1]
        vectors = [parameter for parameter in self.parameters if parameter.dim() < 2]
        groups: list[dict[str, Any]] = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
        # AdamW without weight decay is Adam.
        self.optimizer = torch.optim.AdamW(
            groups, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )
        self.block: int = getattr(encoder, "embed_block", EMBED_BLOCK)
        # Small gradients would vanish in float16, so the loss is scaled up.
        self.scaler = torch.amp.GradScaler(device.type, enabled=settings.precision == "float16")

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

    def step(self, sentences: Sentences, chosen: Int64, valid: Bool) -> float:
        """Train on one mini-batch of n pairs with the margin loss, and return its loss.

        Args:
            sentences: all sentences of the mega-batch.
            chosen: int64 [4n], indices in `sentences`: s of every pair, then t, t′ and s′.
            valid: bool [2, n], false where s (first row) or t (second row) has no negative.
        """
        moved, margin = torch.from_numpy(valid).to(self.device), self.settings.margin
        return self._step(
            sentences.take(chosen), lambda vectors: margin_loss(vectors.chunk(4), moved, margin=margin)
        )

    def step_in_batch(self, sentences: Sentences, pairs: Int64, barred: Bool) -> float:
        """Train on one mini-batch of n pairs with `multiple_negatives_loss`, and return its loss.

        Args:
            sentences: all sentences of the mega-batch.
            pairs: int64 [2n], indices in `sentences`: s of every pair, and then t.
            barred: bool [n, n]; see the loss.
        """
        moved, scale = torch.from_numpy(barred).to(self.device), self.settings.scale
        return self._step(
            sentences.take(pairs),
            lambda vectors: multiple_negatives_loss(vectors.chunk(2), moved, scale=scale),
        )

    def step_of_teacher(self, sentences: Sentences, pairs: Int64) -> float:
        """Train on one mini-batch of n pairs with `cosines_loss`, and return its loss.

        Args:
            sentences: all sentences of the mega-batch, with the vectors of the teacher.
            pairs: int64 [2n], indices in `sentences`: s of every pair, and then t.
        """
        chosen = sentences.take(pairs)
        teacher = torch.from_numpy(cast(Float16, chosen.teacher)).to(self.device).float()
        return self._step(chosen, lambda vectors: cosines_loss(vectors, teacher))

    def _step(self, sentences: Sentences, loss_of: Callable[[Tensor], Tensor]) -> float:
        """Train on these sentences; `loss_of` computes the loss from their vectors."""
        self.encoder.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * self._rate()
        self.optimizer.zero_grad()
        size = self.settings.chunk_size or len(sentences)
        if size >= len(sentences):
            self._seed(0)
            loss = loss_of(self._encode(sentences)) + self._penalties()
            self.scaler.scale(loss).backward()
        else:
            loss = self._in_chunks(list(_chunks(sentences, size)), loss_of)
        if self.settings.max_gradient_norm is not None:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.parameters, self.settings.max_gradient_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.steps_done += 1
        return loss.item()

    def _in_chunks(self, chunks: Sequence[Sentences], loss_of: Callable[[Tensor], Tensor]) -> Tensor:
        """Compute the loss and its gradients with the states of one chunk in memory at a time.

        First all vectors are computed without gradients, then the gradient of the loss with respect to the
        vectors, and then each chunk again, through which it is passed on (Gao et al. 2021, *Scaling Deep
        Contrastive Learning Batch Size under Memory Limited Setup*).
        """
        vectors = []
        with torch.no_grad():
            for number, chunk in enumerate(chunks):
                self._seed(number)
                vectors.append(self._encode(chunk))
        together = torch.cat(vectors).requires_grad_()
        loss = loss_of(together) + self._penalties()
        # The penalties' gradients go to the parameters directly.
        self.scaler.scale(loss).backward()
        gradients = torch.split(cast(Tensor, together.grad), [len(chunk) for chunk in chunks])
        for number, (chunk, gradient) in enumerate(zip(chunks, gradients, strict=True)):
            # The same seed as before, and so the same dropout.
            self._seed(number)
            self._encode(chunk).backward(gradient)
        return loss

    def _encode(self, sentences: Sentences) -> Tensor:
        precision = self.settings.precision
        with torch.autocast(self.device.type, _DTYPES.get(precision), enabled=precision in _DTYPES):
            vectors: Tensor = self.encoder(sentences)
        return vectors.float()

    def _penalties(self) -> Tensor:
        penalty = torch.zeros((), device=self.device)
        for parameter, value in self.anchors:
            penalty = penalty + self.settings.initial_vectors_penalty * (parameter - value).square().sum()
        for parameter in self.composition:
            penalty = penalty + self.settings.composition_penalty * parameter.square().sum()
        return penalty

    def _seed(self, chunk: int) -> None:
        # Each step has its own seed, so a resumed run has the same dropout as an uninterrupted one.
        torch.manual_seed(self.settings.seed * _SEEDS + self.steps_done + (chunk << 40))

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
        for name, value in self.scaler.state_dict().items():
            state[f"scaler.{name}"] = torch.tensor(value)
        for name, parameter in self.encoder.named_parameters():
            state[f"parameters.{name}"] = parameter.detach().cpu()
            for key, value in self.optimizer.state[parameter].items():
                state[f"optimizer.{name}.{key}"] = value.cpu()
        return state

    @torch.no_grad()
    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Continue from the point at which `state` was called."""
        self.steps_done = int(state["steps"])
        scaler = {name: state[f"scaler.{name}"].item() for name in self.scaler.state_dict()}
        self.scaler.load_state_dict(scaler)
        for name, parameter in self.encoder.named_parameters():
            parameter.copy_(state[f"parameters.{name}"])
            prefix = f"optimizer.{name}."
            self.optimizer.state[parameter] = {
                key.removeprefix(prefix): value.to(self.device)
                for key, value in state.items()
                if key.startswith(prefix)
            }


def _chunks(sentences: Sentences, size: int) -> Iterator[Sentences]:
    for start in range(0, len(sentences), size):
        yield sentences.part(start, min(start + size, len(sentences)))
