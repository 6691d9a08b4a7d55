"""Fingerprints of sentences, by which copies are found."""

import torch
from torch import Tensor

from paraphrastic.base.arrays import Int64
from paraphrastic_pipeline.training.sentences import Sentences


def fingerprints(sentences: Sentences) -> Int64:
    """One number per sentence, [n]: the same for equal sentences, and almost surely another for others."""
    mixed, *others = (
        sentence_fingerprints(torch.from_numpy(unit.tokens).long(), torch.from_numpy(unit.offsets))
        for unit in (sentences, *sentences.others)
    )
    for other in others:
        mixed = _mixed(mixed + other)
    return mixed.numpy()


def sentence_fingerprints(tokens: Tensor, offsets: Tensor) -> Tensor:
    """Fingerprints of sentences in one unit, on any device: int64 [n].

    Args:
        tokens: int64 [tokens], those of all sentences.
        offsets: int64 [n + 1]; sentence i is `tokens[offsets[i]:offsets[i + 1]]`.
    """
    starts = torch.repeat_interleave(offsets[:-1], offsets.diff(), output_size=len(tokens))
    position = torch.arange(1, len(tokens) + 1, device=tokens.device) - starts
    # 64-bit integers wrap around, so the differences of sums are exact.
    sums = _mixed((tokens << 32) | position).cumsum(0)
    return _mixed(torch.nn.functional.pad(sums, (1, 0))[offsets].diff())


def _mixed(values: Tensor) -> Tensor:
    """The finaliser of splitmix64: every input bit changes every output bit with probability ½."""
    for shift, factor in ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15), (31, 1)):
        # The mask makes this an unsigned shift.
        values = (values ^ ((values >> shift) & ((1 << (64 - shift)) - 1))) * factor
    return values


def occurs_again(ids: Tensor) -> Tensor:
    """Whether another element has the same value, bool [n]."""
    ordered, order = ids.sort()
    equal = ordered.diff() == 0
    again = torch.nn.functional.pad(equal, (1, 0)) | torch.nn.functional.pad(equal, (0, 1))
    return torch.empty_like(again).scatter_(0, order, again)
