"""Find hard negatives: for each sentence, the most similar one of the mega-batch outside its own pair."""

from typing import Any

import llvmlite.binding
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraphrastic.base.arrays import Float32, Int64
from paraphrastic_pipeline.settings.sections.training import MiningPrecision
from paraphrastic_pipeline.training.fingerprints import occurs_again
from paraphrastic_pipeline.training.groups import in_same_group, shared_groups
from paraphrastic_pipeline.training.negative_kernels import Barred, order_bits, quantize
from paraphrastic_pipeline.training.negative_search import LOWEST, NO_NEGATIVE, Search
from paraphrastic_pipeline.training.processor import has_8_bit_products
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.threads import Workers
from paraphrastic_pipeline.training.two_looks import search_in_two_looks, two_looks_pay

# Rows of the matrix held at a time on a device: 100 MB with 12,800 columns in bfloat16.
DEVICE_ROWS = 4096
# Vectors sampled to choose the scale of int8. Few normally distributed entries exceed four deviations.
_SAMPLE = 64
_TYPICAL = 4.0


def hardest_negatives(
    vectors: Tensor,
    fingerprints: Int64,
    workers: Workers,
    *,
    either_side: bool,
    exclude_duplicates: bool,
    precision: MiningPrecision,
    max_share: float | None = None,
    groups: Sentences | None = None,
) -> Int64:
    """Find the negative of every sentence in a mega-batch of n pairs (Wieting et al. 2021, section 3).

    Args:
        vectors: [2n, dim] of unit length; the n sources, then their targets. If they are on a GPU, it does
            the search.
        fingerprints: int64 [2n], from the function `fingerprints`.
        workers: the threads; their number does not change the result.
        either_side: search all sentences, not only those of the other side.
        exclude_duplicates: also bar every pair that shares a sentence or a group with the sentence's own
            pair.
        precision: precision of the similarities. In bfloat16 and int8 they have three digits, which do not
            tell sentences that are about equally similar apart. For `leading`, see `two_looks`.
        max_share: bars candidates whose similarity is above this share of the similarity of the sentence's
            own pair, since they may mean the same (Moreira et al. 2024, TopK-PercPos). None bars none.
        groups: the groups of the n pairs, as numbers in place of tokens; None if nothing is known of groups.

    Returns:
        int64 [2n], the index in `vectors` of each sentence's negative, or `NO_NEGATIVE` if every candidate is
        barred. Among equally similar candidates, the first one of the other side wins, and then the first
        one of the sentence's own side.
    """
    if vectors.is_cuda:
        negatives = hardest_on_device(
            vectors,
            torch.from_numpy(fingerprints).to(vectors.device),
            either_side=either_side,
            exclude_duplicates=exclude_duplicates,
            precision=precision,
            max_share=max_share,
            groups=groups,
        )
        return negatives.cpu().numpy()
    vectors = _in_precision(vectors, precision_on("cpu", precision), workers)
    n = len(vectors) // 2
    limits = _limits(vectors[:n], vectors[n:], max_share)
    barred = _barred(fingerprints, groups, limits, duplicates=exclude_duplicates)
    # Each worker multiplies its own blocks, so torch should not start threads as well.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        leading = precision_on("cpu", precision) == "leading"
        if leading and max_share is None and two_looks_pay(vectors):
            return search_in_two_looks(vectors, barred, workers, either_side=either_side)
        search = Search(vectors, barred, threads=workers.size, either_side=either_side)
        workers.run(search.run)
        return search.negatives()
    finally:
        torch.set_num_threads(threads)


def _barred(
    fingerprints: Int64, groups: Sentences | None, limits: npt.NDArray[Any], *, duplicates: bool
) -> Barred:
    """The pairs that are barred; only with `duplicates` those that share a sentence or a group."""
    n = len(fingerprints) // 2
    copies = occurs_again(torch.from_numpy(fingerprints)).numpy() if duplicates else np.zeros(2 * n, np.bool_)
    unknown = Sentences(np.empty(0, np.int32), np.zeros(n + 1, np.int64))
    of_pairs, members = shared_groups(groups if groups and duplicates else unknown)
    return Barred(
        has_copy=copies[:n] | copies[n:],
        source_ids=fingerprints[:n],
        target_ids=fingerprints[n:],
        groups=of_pairs.tokens,
        group_offsets=of_pairs.offsets,
        members=members.tokens,
        member_offsets=members.offsets,
        limits=limits,
    )


def precision_on(device: str, precision: MiningPrecision) -> MiningPrecision:
    """The precision that is used on a device; on `cpu`, `auto` is the fastest that the processor offers."""
    if device != "cpu":
        return "float32" if precision == "float32" else "bfloat16"
    if precision != "auto":
        return precision
    choices: tuple[MiningPrecision, ...] = ("int8", "bfloat16", "leading")
    return next(choice for choice in choices if has_instructions(choice))


def has_instructions(precision: MiningPrecision) -> bool:
    """Whether the processor multiplies numbers of this precision itself; otherwise, products take longer."""
    if precision == "int8":
        return has_8_bit_products()
    return precision != "bfloat16" or bool(llvmlite.binding.get_host_cpu_features().get("avx512bf16"))


def _limits(sources: Tensor, targets: Tensor, max_share: float | None) -> npt.NDArray[Any]:
    """The largest similarity of a pair's negatives, as `_similarities` gives them; empty if any goes."""
    kind = sources.dtype
    if max_share is None:
        return np.empty(0, LOWEST[kind].dtype)
    limits = (sources.to(torch.float32) * targets.to(torch.float32)).sum(1) * max_share
    if kind != torch.bfloat16:
        return limits.floor().to(torch.int32).numpy() if kind == torch.int8 else limits.numpy()
    bits = limits.bfloat16().view(torch.int16).numpy()[None]
    order_bits(bits)
    return bits[0]


def _in_precision(vectors: Tensor, precision: MiningPrecision, workers: Workers) -> Tensor:
    if precision == "bfloat16":
        return vectors.bfloat16()
    return _in_eight_bits(vectors, workers) if precision == "int8" else vectors


def _in_eight_bits(vectors: Tensor, workers: Workers) -> Tensor:
    """The vectors [n, dim] as int8, all on the same scale."""
    rounded = torch.empty(vectors.shape, dtype=torch.int8)
    scale = np.float32(127.0 / _largest(vectors[:: -(-len(vectors) // _SAMPLE)].numpy()))
    source, target = vectors.numpy(), rounded.numpy()
    parts = np.linspace(0, len(vectors), workers.size + 1).astype(np.int64)
    workers.run(lambda index: quantize(source, scale, parts[index], parts[index + 1], target))
    return rounded


def _largest(sample: Float32) -> float:
    """The value that becomes 127 in int8, chosen so that int8 is nearest to the vectors on average.

    Entries above this value are cut off, which costs much if they are frequent. The larger it is, the more
    coarsely all other entries are rounded.
    """
    entries = np.abs(sample)
    candidates = [_TYPICAL * factor / sample.shape[1] ** 0.5 for factor in (1.0, 2.0, 4.0)]
    candidates += [float(entries.max())] if entries.size else []

    def error(largest: float) -> float:
        rounding = (largest / 127) ** 2 / 12
        return rounding + float(np.square(np.maximum(entries - largest, 0)).mean())

    return max(min(candidates, key=error), float(np.finfo(np.float32).tiny))


def hardest_on_device(
    vectors: Tensor,
    fingerprints: Tensor,
    *,
    either_side: bool,
    exclude_duplicates: bool,
    precision: MiningPrecision,
    max_share: float | None = None,
    groups: Sentences | None = None,
) -> Tensor:
    """Do what `hardest_negatives` does with torch's operations, on the device of `vectors`: int64 [2n].

    `precision_on` says which precision is used on a GPU.
    """
    n = len(vectors) // 2
    bfloat16 = precision_on("cuda", precision) == "bfloat16"
    sides = (vectors.bfloat16() if bfloat16 else vectors).split(n)
    limits = None
    if max_share is not None:
        limits = ((sides[0].float() * sides[1].float()).sum(1) * max_share).to(sides[0].dtype)
    # The other side and the sentence's own side, apart from each other: each block of rows meets both, and a
    # candidate of the own side must not win over an equal one of the other side in a later block.
    values = sides[0].new_full((2, 2 * n), -torch.inf)
    negatives = torch.full((2, 2 * n), NO_NEGATIVE, device=vectors.device)
    source, target = fingerprints.split(n)
    starts = range(0, n, DEVICE_ROWS)
    copied = torch.zeros(0, dtype=torch.int64, device=vectors.device)
    bounds = [0] * (len(starts) + 1)
    if exclude_duplicates:
        again = occurs_again(fingerprints)
        copied = again[:n] | again[n:]
        if groups is not None:
            copied |= torch.from_numpy(shared_groups(groups)[0].lengths > 0).to(vectors.device)
        copied = copied.nonzero().squeeze(1)
        edges = torch.tensor([*starts, n], device=vectors.device)
        bounds = torch.searchsorted(copied, edges).tolist()

    def offer(own_side: bool, first: int, nearest: Tensor, shift: int, highest: Tensor) -> None:
        part = int(own_side), slice(first, first + len(highest))
        # If candidates are equally similar, the first one stays.
        better = highest > values[part]
        values[part] = torch.where(better, highest, values[part])
        negatives[part] = torch.where(better, nearest + shift, negatives[part])

    for number, start in enumerate(starts):
        rows = slice(start, min(n, start + DEVICE_ROWS))
        copies = copied[bounds[number] : bounds[number + 1]]
        s, t = source[copies, None], target[copies, None]
        barred = (s == source) | (t == target) | (s == target) | (t == source)
        if len(copies) and groups is not None:
            places, pairs = (
                torch.from_numpy(array).to(copies.device) for array in in_same_group(groups, rows)
            )
            barred[torch.searchsorted(copies, places + start), pairs] = True
        for left, right in [(0, 1), *([(0, 0), (1, 1)] if either_side else [])]:
            similarity = sides[left][rows] @ sides[right].T
            similarity.diagonal(start).fill_(-torch.inf)
            if len(copies):
                similarity[copies - start] = similarity[copies - start].masked_fill(barred, -torch.inf)
            highest, nearest = _below(similarity, limits, rows).max(dim=1)
            offer(left == right, left * n + start, nearest, right * n, highest)
            if left != right:
                # The same product serves the other direction.
                highest, nearest = _below(similarity.T, limits, slice(None)).max(dim=1)
                offer(False, n, nearest, start, highest)
    return torch.where(values[1] > values[0], negatives[1], negatives[0])


def _below(similarity: Tensor, limits: Tensor | None, rows: slice) -> Tensor:
    """The similarities of the sentences of `rows` that do not exceed their limits; all others are barred."""
    if limits is None:
        return similarity
    return similarity.masked_fill(similarity > limits[rows, None], -torch.inf)
