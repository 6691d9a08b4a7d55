"""Numbers by which equal sentences are found, by torch's operations."""

import torch
from torch import Tensor


def fingerprints(tokens: Tensor, offsets: Tensor) -> Tensor:
    """The numbers of `Sentences.fingerprints` for sentences in one unit, int64 [n].

    Args:
        tokens: int64 [tokens], of all sentences.
        offsets: int64 [n + 1]; sentence i is `tokens[offsets[i]:offsets[i + 1]]`.
    """
    starts = torch.repeat_interleave(offsets[:-1], offsets.diff(), output_size=len(tokens))
    position = torch.arange(1, len(tokens) + 1, device=tokens.device) - starts
    # Integers of 64 bits wrap around, so that differences of sums are exact.
    sums = _mixed((tokens << 32) | position).cumsum(0)
    return _mixed(torch.nn.functional.pad(sums, (1, 0))[offsets].diff())


def _mixed(values: Tensor) -> Tensor:
    """The finaliser of splitmix64, which lets every input bit change every output bit with chance ½."""
    for shift, factor in ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15)):
        values = (values ^ _shifted(values, shift)) * factor
    return values ^ _shifted(values, 31)


def _shifted(values: Tensor, bits: int) -> Tensor:
    """Unsigned numbers, shifted to the right."""
    return (values >> bits) & ((1 << (64 - bits)) - 1)


def occurs_again(ids: Tensor) -> Tensor:
    """Whether another element has the same value, bool [n]."""
    ordered, order = ids.sort()
    equal = ordered.diff() == 0
    again = torch.nn.functional.pad(equal, (1, 0)) | torch.nn.functional.pad(equal, (0, 1))
    return torch.empty_like(again).scatter_(0, order, again)
