"""Find the rows that each mini-batch of a mega-batch touches, for all mini-batches at once."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

# Tokens in a part of a row's sum. Parts are summed separately, so that no row waits for a more frequent one.
SUMMED_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Bags:
    """Bags of indices: bag i is `indices[starts[i]:starts[i + 1]]`, and the last one goes to the end."""

    indices: Tensor
    starts: Tensor

    def sums(self, values: Tensor) -> Tensor:
        """Sums of the rows of `values` in each bag, added in order: [bags, dimension]."""
        return torch.nn.functional.embedding_bag(self.indices, values, self.starts, mode="sum")


@dataclass(frozen=True, slots=True)
class MiniBatchBags:
    """One mini-batch of n pairs; its sentences are s, t, t′ and s′ of the first pair, then of the next.

    The gradients of a row are summed over each part of its tokens, and then over the parts.
    """

    rows: Tensor
    """int64 [rows], the distinct rows of the table."""
    part: slice
    """The position of these rows among the rows of all mini-batches."""
    sentences: Bags
    """For each sentence, the places of its tokens in `rows`."""
    shares: Tensor
    """float32 [4n, 1], the weight of a token in each sentence."""
    sentence: Tensor
    """int64 [tokens], the sentence of each token."""
    tokens: Bags
    """For each part of a row's tokens, the tokens in it."""
    token_sentences: Bags
    """For each such part, the sentences of these tokens."""
    parts: Bags
    """For each row, its parts."""


class MiniBatches:
    """The mini-batches of a mega-batch of n pairs, in order.

    Args:
        tokens: int64 [tokens], those of the 2n sentences.
        offsets: int64 [2n + 1]; sentence i is `tokens[offsets[i]:offsets[i + 1]]`.
        negatives: int64 [2n], index of each sentence's negative; a sentence without one has itself.
        batch_size: pairs per mini-batch.
        n_rows: rows of the table.
        keep: factor of the tokens' weights, 1 / (1 - dropout).
    """

    def __init__(
        self,
        tokens: Tensor,
        offsets: Tensor,
        negatives: Tensor,
        *,
        batch_size: int,
        n_rows: int,
        keep: float,
    ) -> None:
        device, n = tokens.device, len(offsets) // 2
        self.size = -(-n // batch_size)
        pair = torch.arange(n, device=device)
        chosen = torch.stack([pair, pair + n, negatives[:n], negatives[n:]], dim=1).flatten()
        lengths = offsets.diff()[chosen]
        ends = lengths.cumsum(0)
        total = int(ends[-1])
        sentence = torch.repeat_interleave(lengths, output_size=total)
        begins = ends - lengths
        places = torch.arange(total, device=device)
        row = tokens[(offsets[chosen] - begins)[sentence] + places]
        # Tokens are sorted by mini-batch and row; equal ones stay in the order of their sentences.
        per_batch = 4 * batch_size
        batch = sentence // per_batch
        key, order = (batch * n_rows + row).sort(stable=True)
        new = torch.ones_like(key, dtype=torch.bool)
        new[1:] = key.diff() != 0
        starts = new.nonzero().squeeze(1)
        place = new.cumsum(0) - 1
        position = places - starts[place]
        cuts = (position % SUMMED_TOKENS == 0).nonzero().squeeze(1)
        cut_place = place[cuts]
        self.rows, self.batch = key[starts] % n_rows, key[starts] // n_rows
        first_cuts = torch.searchsorted(cut_place, torch.arange(len(starts), device=device))

        # Where each mini-batch begins among sentences, tokens, rows and parts of rows.
        numbers = torch.arange(self.size + 1, device=device)
        of_sentences = (numbers * per_batch).clamp_max(4 * n)
        of_tokens = torch.nn.functional.pad(ends, (1, 0))[of_sentences]
        of_rows = torch.searchsorted(self.batch, numbers)
        of_parts = torch.searchsorted(batch[order][cuts], numbers)
        self.bounds = torch.stack([of_sentences, of_tokens, of_rows, of_parts], dim=1).tolist()

        # The indices of a mini-batch count from its own beginning.
        batch_of_token = batch[order]
        slot = torch.empty_like(place).scatter_(0, order, place - of_rows[batch_of_token])
        batch_of_sentence = torch.arange(4 * n, device=device) // per_batch
        self.slot, self.sentence_begins = slot, begins - of_tokens[batch_of_sentence]
        self.shares = (keep / lengths.clamp_min(1))[:, None]
        self.sentence = sentence - batch * per_batch
        self.ordered_sentence = self.sentence[order]
        self.order = order - of_tokens[batch_of_token]
        self.cuts = cuts - of_tokens[batch_of_token[cuts]]
        self.first_cuts = first_cuts - of_parts[self.batch]
        self._parts = torch.arange(len(cuts), device=device)

    def previous(self) -> Tensor:
        """The last mini-batch before (from 1) that touched each of `rows`, or 0 if none did: int64 [rows]."""
        order = torch.argsort(self.rows * self.size + self.batch)
        row, batch = self.rows[order], self.batch[order]
        before = torch.zeros_like(batch)
        before[1:] = torch.where(row.diff() == 0, batch[:-1] + 1, 0)
        return torch.empty_like(before).scatter_(0, order, before)

    def __iter__(self) -> Iterator[MiniBatchBags]:
        for now, after in zip(self.bounds, self.bounds[1:], strict=False):
            sentences, tokens, rows, parts = (
                slice(start, stop) for start, stop in zip(now, after, strict=True)
            )
            yield MiniBatchBags(
                self.rows[rows],
                rows,
                Bags(self.slot[tokens], self.sentence_begins[sentences]),
                self.shares[sentences],
                self.sentence[tokens],
                Bags(self.order[tokens], self.cuts[parts]),
                Bags(self.ordered_sentence[tokens], self.cuts[parts]),
                Bags(self._parts[: parts.stop - parts.start], self.first_cuts[rows]),
            )
