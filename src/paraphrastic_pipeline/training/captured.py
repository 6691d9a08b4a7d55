"""Train averages on a GPU with dense Adam, where a whole step is captured once and then replayed.

Small kernels end before Python has launched the next ones. A CUDA graph launches all of a step at once, if
their shapes and addresses stay. So the sentences of a mini-batch are gathered into flat tokens of a few fixed
capacities on the GPU, which holds the tokens of the mega-batch. On a processor, the same code runs without a
graph.
"""

from collections import Counter

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, embedding, embedding_bag, normalize

from paraphrastic.base.arrays import Bool, Int64
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.loss import margin_loss
from paraphrastic_pipeline.training.sentences import Sentences

# The fewest tokens that a step has room for; larger capacities are powers of two.
_CAPACITY = 1024
# Slots without a sentence that are added up together.
_SHORT = 32
# Steps of a capacity before it is captured: libraries set themselves up in the first ones.
_WARM_UP = 3


class CapturedEngine(AutogradEngine):
    """Trains one table of averaged embeddings with the margin loss. See `engine.Engine`.

    Short mini-batches, of which an epoch has one at most, are trained as `AutogradEngine` does.
    """

    def __init__(self, encoder: nn.Module, settings: TrainingSettings, *, steps: int) -> None:
        super().__init__(encoder, settings, steps=steps)
        self.table: Tensor = self.parameters[0]
        self._held: Sentences | None = None
        self._tokens = self._offsets = torch.empty(0, dtype=torch.int64, device=self.device)
        # What a replayed step reads and writes.
        n = settings.batch_size
        self._chosen = torch.zeros(4 * n, dtype=torch.int64, device=self.device)
        self._allowed = torch.zeros((2, n), dtype=torch.bool, device=self.device)
        self._loss_of_step = torch.zeros((), device=self.device)
        self._steps_of: Counter[int] = Counter()
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}
        for group in self.optimizer.param_groups:
            group["lr"] = torch.tensor(settings.learning_rate, device=self.device)
            group["capturable"] = self.device.type == "cuda"

    @torch.no_grad()
    def embed(self, sentences: Sentences) -> Tensor:
        """Embed with the current parameters, without dropout: unit vectors, float32 [n, dimension]."""
        self._hold(sentences)
        tokens, offsets = self._tokens[: len(sentences.tokens)], self._offsets[: len(sentences)]
        return normalize(embedding_bag(tokens, self.table, offsets, mode="mean"))

    def step(self, sentences: Sentences, chosen: Int64, allowed: Bool) -> float | Tensor:
        """Train on one mini-batch, and return its loss, for which nobody has to wait."""
        if len(chosen) < len(self._chosen):
            return super().step(sentences, chosen, allowed)
        self._hold(sentences)
        self._begin_step()
        self._chosen.copy_(torch.from_numpy(chosen), non_blocking=True)
        self._allowed.copy_(torch.from_numpy(allowed), non_blocking=True)
        self._run_or_replay(_at_least(int(sentences.lengths[chosen].sum())))
        self.steps_done += 1
        return self._loss_of_step.clone()

    def _set_rate(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"].fill_(rate)

    def _hold(self, sentences: Sentences) -> None:
        """Copy the tokens of a mega-batch to the device, unless they are there."""
        if sentences is self._held:
            return
        self._held = sentences
        self._tokens = self._filled(self._tokens, sentences.tokens)
        self._offsets = self._filled(self._offsets, sentences.offsets)

    def _filled(self, buffer: Tensor, array: npt.NDArray[np.integer]) -> Tensor:
        """The buffer with the array at its beginning, or a larger one, which captured steps do not know."""
        if len(buffer) < len(array):
            self._graphs.clear()
            buffer = torch.zeros(_at_least(len(array)), dtype=torch.int64, device=self.device)
        given = torch.from_numpy(array.astype(np.int64))
        pinned = given.pin_memory() if self.device.type == "cuda" else given
        buffer[: len(array)].copy_(pinned, non_blocking=True)
        return buffer

    def _run_or_replay(self, capacity: int) -> None:
        """Run a step, and from the fourth one of this capacity on, replay it."""
        self._steps_of[capacity] += 1
        if self.device.type == "cpu":
            self._run(capacity)
        elif self._steps_of[capacity] <= _WARM_UP:
            # What is captured later must not have been used on the main stream.
            stream, main = torch.cuda.Stream(self.device), torch.cuda.current_stream(self.device)
            stream.wait_stream(main)
            with torch.cuda.stream(stream):
                self._run(capacity)
            main.wait_stream(stream)
        else:
            if capacity not in self._graphs:
                self._graphs[capacity] = torch.cuda.CUDAGraph()
                with torch.cuda.graph(self._graphs[capacity]):
                    self._run(capacity)
            self._graphs[capacity].replay()

    def _run(self, capacity: int) -> None:
        """One step, by operations whose shapes depend on nothing but the capacity."""
        self.optimizer.zero_grad()
        n = len(self._chosen)
        starts = self._offsets[self._chosen]
        lengths = self._offsets[self._chosen + 1] - starts
        ends = lengths.cumsum(0)
        slots = torch.arange(capacity, device=self.device)
        # The sentence of each slot, and of those at the end that have none.
        owners = torch.searchsorted(ends, slots, right=True)
        places = (starts - ends + lengths)[owners.clamp_max(n - 1)] + slots
        tokens = self._tokens[torch.where(owners < n, places, 0)]
        # A thread adds up a bag, or the gradients of a row, one by one. So slots without a sentence are in
        # many short bags, on which no loss depends, and have different rows.
        tokens = torch.where(owners < n, tokens, slots % len(self.table))
        bags = torch.cat([ends - lengths, (ends[-1] + slots[::_SHORT]).clamp_max(capacity)])
        table = self.table
        if self.settings.dropout:
            table, tokens = dropout(embedding(tokens, table), self.settings.dropout), slots
        vectors = embedding_bag(tokens, table, bags, mode="mean")[:n]
        loss = margin_loss(vectors.chunk(4), self._allowed, margin=self.settings.margin)
        loss.backward()
        self._clip()
        self.optimizer.step()
        self._loss_of_step.copy_(loss.detach())


def _at_least(size: int) -> int:
    """The smallest capacity for so many tokens or offsets."""
    return max(_CAPACITY, 1 << (size - 1).bit_length())
