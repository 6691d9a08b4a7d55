"""Train averaged embeddings on a device; a mega-batch's data, mining and optimizer stay there."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from paraphrastic.base.arrays import Float32
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.device.formulas import (
    Rates,
    adam,
    caught_up,
    caught_up_exactly,
    hinge_and_factors,
    missed_steps,
    step_constants,
    terms,
)
from paraphrastic_pipeline.training.device.sparse_rows import Bags, MiniBatchBags, MiniBatches
from paraphrastic_pipeline.training.fingerprints import sentence_fingerprints
from paraphrastic_pipeline.training.fused_kernels import HORIZON
from paraphrastic_pipeline.training.negative_mining import hardest_on_device
from paraphrastic_pipeline.training.sentences import Sentences

# Rows copied at a time, with their moments: 50 MB at 1,024 dimensions.
COPIED_ROWS = 4096
STATE = ("table", "first", "second")


class DeviceEngine:
    """Trains averaged embeddings with the margin loss and Adam, one mega-batch at a time.

    It computes the same as `FusedEngine`, up to rounding. No operation adds to the same place twice, so a
    device always gives the same result. Except early in a run, the host waits for the device only between
    the steps of two mega-batches. `table` holds the initial embeddings, float32 [rows, dimension].
    """

    def __init__(
        self, table: Tensor, settings: TrainingSettings, device: torch.device, *, steps: int
    ) -> None:
        self.settings = settings
        self.device = device
        falling = steps if settings.learning_rate_schedule == "linear" else 0
        self.rates = Rates(settings.learning_rate, falling, settings.weight_decay, device)
        # A row's embedding and moments are adjacent, since they are read and written together.
        self.rows = torch.zeros(len(table), 3, table.shape[1], device=device)
        self.rows[:, 0] = table.to(device)
        self.last = torch.zeros(len(table), dtype=torch.int64, device=device)
        self.steps_done = 0
        self._generator = torch.Generator(device)
        # On a GPU, each function compiles to a kernel or two. None contains a long sum: the compiler would
        # choose its order by what is fastest at the moment, and results would vary.
        functions: list[Callable[..., Any]] = [caught_up, adam, hinge_and_factors]
        if device.type == "cuda":
            functions = [torch.compile(function, dynamic=True) for function in functions]
        self._caught_up, self._adam, self._hinge_and_factors = functions

    def embed(self, sentences: Sentences) -> Tensor:
        """Embed with the current parameters, without dropout: unit vectors, float32 [n, dimension]."""
        return self._embed(*self._moved(sentences))

    def train(self, sentences: Sentences) -> tuple[list[float], int]:
        """Find the negatives of a mega-batch and train on its mini-batches.

        Args:
            sentences: the sources of n pairs, then their targets.

        Returns:
            The loss of each mini-batch, and how many sentences had a negative.
        """
        tokens, offsets = self._moved(sentences)
        negatives = self.negatives(tokens, offsets, sentences.pair_groups)
        places = torch.arange(len(negatives), device=self.device)
        valid = negatives >= 0
        # A sentence without a negative gets itself as a placeholder; its term of the loss is masked.
        return self.train_with(tokens, offsets, torch.where(valid, negatives, places), valid), int(
            valid.sum()
        )

    def negatives(self, tokens: Tensor, offsets: Tensor, groups: Sentences | None = None) -> Tensor:
        """Find each sentence's negative with the current parameters: int64 [2n], -1 if there is none."""
        ids = sentence_fingerprints(tokens, offsets)
        vectors, search = self._embed(tokens, offsets), self.settings.negative_search
        return hardest_on_device(vectors, ids, groups=groups, **search)

    def train_with(self, tokens: Tensor, offsets: Tensor, negatives: Tensor, valid: Tensor) -> list[float]:
        """Train on the mini-batches of a mega-batch with these negatives, and return the loss of each.

        Args:
            tokens: int64 [tokens], those of the sources of n pairs, then those of their targets.
            offsets: int64 [2n + 1]; sentence i is `tokens[offsets[i]:offsets[i + 1]]`.
            negatives: int64 [2n], index of each sentence's negative.
            valid: bool [2n], false if a sentence has no negative; its term of the loss is zero.
        """
        size = self.settings.batch_size
        keep = 1.0 / (1.0 - self.settings.dropout)
        batches = MiniBatches(tokens, offsets, negatives, batch_size=size, n_rows=len(self.last), keep=keep)
        last, k, missed = self._missed_between(batches)
        # Exact sums are needed only in the first steps of a run, or with strong weight decay.
        exact = bool((missed[:, 2] < 0).any())
        numbers = self.steps_done + 1 + torch.arange(batches.size, device=self.device)
        constants = step_constants(numbers, self.rates)
        losses = []
        valid_parts = valid.view(2, -1).T.split(size)
        for batch, own_valid, own_constants in zip(batches, valid_parts, constants, strict=True):
            part = batch.part
            times = (last[part], k[part]) if exact else None
            losses.append(self._step(batch, own_valid, missed[part], times, own_constants))
            self.steps_done += 1
        self.last.scatter_reduce_(0, batches.rows, numbers[batches.batch], "amax")
        return torch.stack(losses).tolist()

    def table(self) -> Float32:
        """The embeddings, float32 [rows, dimension]."""
        # Rows catch up in a copy, because catching up in two stages would change the last digits.
        blocks = []
        for start in range(0, len(self.last), COPIED_ROWS):
            part = slice(start, start + COPIED_ROWS)
            blocks.append(self._settled(self.rows[part], self.last[part])[:, 0].cpu())
        return torch.cat(blocks).numpy()

    def weights(self) -> dict[str, Float32]:
        """The table, under its name in the encoder."""
        return {"parts.0.table": self.table()}

    def state(self) -> dict[str, Tensor]:
        """The state that `restore` needs to continue from here, in CPU memory."""
        tensors = {name: self.rows[:, part].cpu().clone() for part, name in enumerate(STATE)}
        return {**tensors, "last": self.last.cpu().clone(), "steps": torch.tensor(self.steps_done)}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Continue from the point at which `state` was called."""
        for part, name in enumerate(STATE):
            self.rows[:, part] = state[name].to(self.device)
        self.last.copy_(state["last"])
        self.steps_done = int(state["steps"])

    def _moved(self, sentences: Sentences) -> tuple[Tensor, Tensor]:
        """Tokens and offsets on the device, int64."""
        tokens, offsets = torch.from_numpy(sentences.tokens), torch.from_numpy(sentences.offsets)
        if self.device.type == "cuda":
            tokens, offsets = tokens.pin_memory(), offsets.pin_memory()
        return tokens.to(self.device, non_blocking=True).long(), offsets.to(self.device, non_blocking=True)

    def _embed(self, tokens: Tensor, offsets: Tensor) -> Tensor:
        rows, places = tokens.unique(return_inverse=True)
        settled = self._settled(self.rows.index_select(0, rows), self.last[rows])
        self.rows.index_copy_(0, rows, settled)
        self.last.index_fill_(0, rows, self.steps_done)
        table = settled[:, 0].contiguous()
        vectors = torch.nn.functional.embedding_bag(places, table, offsets[:-1], mode="mean")
        return torch.nn.functional.normalize(vectors)

    def _settled(self, rows: Tensor, last: Tensor) -> Tensor:
        """Bring rows [n, 3, dimension], which are up to date with steps `last`, up to the current step."""
        if self.settings.optimizer == "lazy_adam" or not len(rows):
            return rows
        # Many rows share few step numbers, so each number is computed once.
        numbers, index = last.unique(return_inverse=True)
        k = self.steps_done - numbers
        missed = missed_steps(numbers, k, self.rates)[index]
        table = self._moved_on(rows, missed, (last, k[index]))
        return torch.stack([table, rows[:, 1] * missed[:, 4, None], rows[:, 2] * missed[:, 5, None]], dim=1)

    def _moved_on(self, rows: Tensor, missed: Tensor, times: tuple[Tensor, Tensor] | None) -> Tensor:
        """Embeddings after the steps that rows missed; `times` is (`last`, k) if some sums must be exact."""
        table: Tensor = self._caught_up(rows, missed)
        if times is not None:
            exact = (missed[:, 2] < 0).nonzero().squeeze(1)
            if len(exact):
                last, k = (time[exact] for time in times)
                n, d = terms(last, k, self.rates, min(HORIZON, int(k.max())))
                table[exact] = caught_up_exactly(rows[exact], missed[exact], n, d)
        return table

    def _missed_between(self, batches: MiniBatches) -> tuple[Tensor, Tensor, Tensor]:
        """For each row of each mini-batch, its last step, the number k of missed steps, and their effect."""
        last = self.steps_done + batches.previous()
        k = self.steps_done + batches.batch - last
        if self.settings.optimizer == "lazy_adam":
            # Lazy Adam moves only the rows that a mini-batch touches, so rows miss nothing.
            k = torch.zeros_like(k)
        base = batches.size + 1
        codes, index = ((last - self.steps_done) * base + k).unique(return_inverse=True)
        missed = missed_steps(self.steps_done + codes // base, codes % base, self.rates)
        return last, k, missed[index]

    def _step(
        self,
        batch: MiniBatchBags,
        valid: Tensor,
        missed: Tensor,
        times: tuple[Tensor, Tensor] | None,
        constants: Tensor,
    ) -> Tensor:
        """Train on one mini-batch; return its loss, on the device."""
        rows = self.rows.index_select(0, batch.rows)
        table = self._moved_on(rows, missed, times)
        kept = self._kept(len(batch.sentence), table.shape[1]) if self.settings.dropout else None
        if kept is None:
            sums = batch.sentences.sums(table)
        else:
            values = table[batch.sentences.indices] * kept
            every = Bags(torch.arange(len(values), device=self.device), batch.sentences.starts)
            sums = every.sums(values)
        vectors = (sums * batch.shares).view(len(valid), 4, -1)
        hinge, factors = self._hinge_and_factors(vectors @ vectors.mT, valid, self.settings.margin)
        gradients = (factors @ vectors).view(len(sums), -1) * batch.shares
        # The gradients of a row's tokens are summed in parts, and then the parts.
        if kept is None:
            parts = batch.token_sentences.sums(gradients)
        else:
            parts = batch.tokens.sums(gradients[batch.sentence] * kept)
        moved = self._adam(rows, table, batch.parts.sums(parts), missed, constants)
        self.rows.index_copy_(0, batch.rows, moved)
        return hinge.sum()

    def _kept(self, tokens: int, dimension: int) -> Tensor:
        """Dropout mask for the token embeddings of a mini-batch: 1 for entries that are kept, otherwise 0."""
        # The odd factors move the seeds of neighbouring steps far apart.
        seed = (self.settings.seed * 0x9E3779B97F4A7C15 + self.steps_done * 0xD1B54A32D192ED03) >> 16
        self._generator.manual_seed(seed & 0x7FFFFFFFFFFF)
        kept = torch.empty(tokens, dimension, device=self.device)
        return kept.bernoulli_(1.0 - self.settings.dropout, generator=self._generator)
