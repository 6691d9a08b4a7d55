"""Numbers by which equal sentences are found, on the processor and on a GPU."""

import torch
from torch import Tensor


def fingerprints(*units: tuple[Tensor, Tensor]) -> Tensor:
    """One number a sentence, equal for equal sentences and (all but surely) for no others, int64 [n].

    Args:
        units: tokens and int64 offsets [n + 1] of the same sentences in each unit; sentence i is
            `tokens[offsets[i]:offsets[i + 1]]`.
    """
    first, *others = (_sums(tokens.long(), offsets) for tokens, offsets in units)
    for sums in others:
        first = _mixed(first) + _mixed(sums)
    return _mixed(first)


def _sums(tokens: Tensor, offsets: Tensor) -> Tensor:
    """Sums of hashes of the tokens and their positions, int64 [n]."""
    starts = torch.repeat_interleave(offsets[:-1], offsets.diff(), output_size=len(tokens))
    position = torch.arange(1, len(tokens) + 1, device=tokens.device) - starts
    # Integers of 64 bits wrap around, so that differences of sums are exact.
    sums = _mixed((tokens << 32) | position).cumsum(0)
    return torch.nn.functional.pad(sums, (1, 0))[offsets].diff()


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
