"""Hard negatives on a device: what `paraphrastic.training.negative_mining` finds, by torch's operations."""

import torch
from torch import Tensor

from paraphrastic.training.negative_mining import NO_NEGATIVE

# Rows of the similarity matrix at a time: with 12,800 columns in bfloat16, 100 MB.
BLOCK_ROWS = 4096


def hardest_negatives(
    vectors: Tensor,
    fingerprints: Tensor,
    *,
    either_side: bool,
    exclude_duplicates: bool,
    bfloat16: bool,
    block_rows: int = BLOCK_ROWS,
) -> Tensor:
    """The negative of every sentence, int64 [2n]; see `training.negative_mining`.

    Args:
        vectors: [2n, dim] of unit length; the n sources, then their targets.
        fingerprints: int64 [2n], equal for equal sentences.
        either_side: look among all sentences, not only among those of the other side.
        exclude_duplicates: also bar every pair that has a sentence in common with the sentence's own pair.
        bfloat16: whether similarities are in bfloat16, and not in float32.
        block_rows: rows of the similarity matrix at a time.
    """
    n = len(vectors) // 2
    sides = (vectors.bfloat16() if bfloat16 else vectors).split(n)
    values = sides[0].new_full((2 * n,), -torch.inf)
    negatives = torch.full((2 * n,), NO_NEGATIVE, device=vectors.device)
    source, target = fingerprints.split(n)
    starts = range(0, n, block_rows)
    copied = torch.zeros(0, dtype=torch.int64, device=vectors.device)
    bounds = [0] * (len(starts) + 1)
    if exclude_duplicates:
        again = _occurs_again(fingerprints)
        copied = (again[:n] | again[n:]).nonzero().squeeze(1)
        edges = torch.tensor([*starts, n], device=vectors.device)
        bounds = torch.searchsorted(copied, edges).tolist()

    def offer(first: int, found: Tensor, shift: int, highest: Tensor) -> None:
        part = slice(first, first + len(highest))
        # Of equals, the first that is offered stays.
        better = highest > values[part]
        values[part] = torch.where(better, highest, values[part])
        negatives[part] = torch.where(better, found + shift, negatives[part])

    for number, start in enumerate(starts):
        rows = slice(start, min(n, start + block_rows))
        own = copied[bounds[number] : bounds[number + 1]]
        s, t = source[own, None], target[own, None]
        barred = (s == source) | (t == target) | (s == target) | (t == source)
        # Those of the other side are offered first.
        for left, right in [(0, 1), *([(0, 0), (1, 1)] if either_side else [])]:
            similarity = sides[left][rows] @ sides[right].T
            similarity.diagonal(start).fill_(-torch.inf)
            if len(own):
                similarity[own - start] = similarity[own - start].masked_fill(barred, -torch.inf)
            highest, found = similarity.max(dim=1)
            offer(left * n + start, found, right * n, highest)
            if left != right:
                # The same product serves the other direction.
                highest, found = similarity.max(dim=0)
                offer(n, found, start, highest)
    return negatives


def fingerprints(tokens: Tensor, offsets: Tensor) -> Tensor:
    """The numbers of `Sentences.fingerprints` of sentences in one unit, int64 [n].

    Args:
        tokens: int64 [tokens], of all sentences.
        offsets: int64 [n + 1]; sentence i is `tokens[offsets[i]:offsets[i + 1]]`.
    """
    lengths = offsets.diff()
    starts = torch.repeat_interleave(offsets[:-1], lengths, output_size=len(tokens))
    position = torch.arange(1, len(tokens) + 1, device=tokens.device) - starts
    # Integers of 64 bits wrap around, so that differences of sums are exact.
    sums = torch.nn.functional.pad(_mix((tokens << 32) | position).cumsum(0), (1, 0))[offsets].diff()
    return _mix(sums)


def _mix(values: Tensor) -> Tensor:
    """The finaliser of splitmix64, whose shifts are of unsigned numbers."""
    for shift, factor in ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15)):
        values = (values ^ _shifted(values, shift)) * factor
    return values ^ _shifted(values, 31)


def _shifted(values: Tensor, bits: int) -> Tensor:
    return (values >> bits) & ((1 << (64 - bits)) - 1)


def _occurs_again(ids: Tensor) -> Tensor:
    """Whether another element has the same value, bool [n]."""
    ordered, order = ids.sort()
    equal = ordered.diff() == 0
    again = torch.nn.functional.pad(equal, (1, 0)) | torch.nn.functional.pad(equal, (0, 1))
    return torch.empty_like(again).scatter_(0, order, again)
