"""Hard negatives on a device: those of `training.negative_mining`, found by torch's operations."""

import torch
from torch import Tensor

from paraphrastic.training.fingerprints import occurs_again
from paraphrastic.training.negative_mining import NO_NEGATIVE
from paraphrastic.training.settings import MiningPrecision

# Rows of the similarity matrix at a time: with 12,800 columns in bfloat16, 100 MB.
BLOCK_ROWS = 4096


def hardest_negatives(
    vectors: Tensor,
    fingerprints: Tensor,
    *,
    either_side: bool,
    exclude_duplicates: bool,
    precision: MiningPrecision,
    block_rows: int = BLOCK_ROWS,
) -> Tensor:
    """The negative of every sentence, int64 [2n]; see `training.negative_mining`.

    Args:
        vectors: [2n, dim] of unit length; the n sources, then their targets.
        fingerprints: int64 [2n], equal for equal sentences.
        either_side: whether negatives may come from the sentence's own side, too.
        exclude_duplicates: whether pairs that share a sentence with the own pair are barred.
        precision: of the similarities; int8 is taken as bfloat16, and `auto` as bfloat16 on a GPU.
        block_rows: rows of the similarity matrix at a time.
    """
    n = len(vectors) // 2
    bfloat16 = precision in ("bfloat16", "int8") or (precision == "auto" and vectors.is_cuda)
    sides = (vectors.bfloat16() if bfloat16 else vectors).split(n)
    values = sides[0].new_full((2 * n,), -torch.inf)
    negatives = torch.full((2 * n,), NO_NEGATIVE, device=vectors.device)
    source, target = fingerprints.split(n)
    starts = range(0, n, block_rows)
    copied = torch.zeros(0, dtype=torch.int64, device=vectors.device)
    bounds = [0] * (len(starts) + 1)
    if exclude_duplicates:
        again = occurs_again(fingerprints)
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
