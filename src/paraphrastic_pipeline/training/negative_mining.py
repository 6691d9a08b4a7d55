"""Find hard negatives: for each sentence, the most similar one of the mega-batch outside its own pair."""

from typing import Any

import llvmlite.binding
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraphrastic.base.arrays import Bool, Float32, Int8, Int32, Int64
from paraphrastic.base.jit import has_8_bit_products, jit
from paraphrastic.base.threads import Workers
from paraphrastic_pipeline.settings.sections.training import MiningPrecision
from paraphrastic_pipeline.training.fingerprints import occurs_again
from paraphrastic_pipeline.training.groups import in_same_group, shared_groups
from paraphrastic_pipeline.training.sentences import Sentences

NO_NEGATIVE = -1
# Rows and columns of the similarity matrix that a thread holds at a time; they should fit into its cache.
SIMILARITY_ROWS = 256
BLOCK_COLUMNS = 1024
# Rows of the matrix held at a time on a device: 100 MB with 12,800 columns in bfloat16.
DEVICE_ROWS = 4096
# Columns whose maximum is taken in one go.
MAXIMUM_COLUMNS = 128
# Vectors sampled to choose the scale of int8. Few normally distributed entries exceed four deviations.
_SAMPLE = 64
_TYPICAL = 4.0

# Highest similarities, and the sentences that have them.
Found = tuple[npt.NDArray[Any], Int64]


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
            tell sentences that are about equally similar apart.
        max_share: bars candidates whose similarity is above this share of the similarity of the sentence's
            own pair, since they may mean the same (Moreira et al. 2024, TopK-PercPos). None bars none.
        groups: the groups of the n pairs, as numbers in place of tokens; None if nothing is known of groups.

    Returns:
        int64 [2n], the index in `vectors` of each sentence's negative, or `NO_NEGATIVE` if every candidate is
        barred. Among equally similar candidates, the first one of the other side wins, and then the first
        one of the sentence's own side.
    """
    ids = torch.from_numpy(fingerprints)
    if vectors.is_cuda:
        found = hardest_on_device(
            vectors,
            ids.to(vectors.device),
            either_side=either_side,
            exclude_duplicates=exclude_duplicates,
            precision=precision,
            max_share=max_share,
            groups=groups,
        )
        return found.cpu().numpy()
    n = len(vectors) // 2
    precision = precision_on("cpu", precision)
    if precision == "bfloat16":
        vectors = vectors.bfloat16()
    elif precision == "int8":
        vectors = _in_eight_bits(vectors, workers)
    sides = vectors[:n], vectors[n:]
    copies = occurs_again(ids).numpy() if exclude_duplicates else np.zeros(2 * n, np.bool_)
    has_copy = copies[:n] | copies[n:]
    source_ids, target_ids = fingerprints[:n], fingerprints[n:]
    unknown = Sentences(np.empty(0, np.int32), np.zeros(n + 1, np.int64))
    of_pairs, members = shared_groups(groups if groups and exclude_duplicates else unknown)
    in_groups = (of_pairs.tokens, of_pairs.offsets, members.tokens, members.offsets)
    size = max(1, min(SIMILARITY_ROWS, -(-n // 8)))
    blocks = [slice(start, min(n, start + size)) for start in range(0, n, size)]
    lowest = _LOWEST[vectors.dtype]
    limits = _limits(*sides, max_share)

    def nothing(size: int) -> Found:
        return np.full(size, lowest), np.full(size, NO_NEGATIVE, np.int64)

    # Each row belongs to one thread, but all threads share the columns, so each has its own results for them.
    by_row, by_column, own_side = nothing(n), [nothing(n) for _ in range(workers.size)], nothing(2 * n)

    def offer(
        rows: slice, columns: slice, left: int, right: int, for_rows: Found, for_columns: Found
    ) -> None:
        similarity = _similarities(sides[left][rows], sides[right][columns])
        scan(
            similarity, lowest, rows.start, columns.start, right * n, has_copy, source_ids, target_ids,
            *in_groups, limits, *for_rows, *for_columns,
        )  # fmt: skip

    def search_blocks(index: int) -> None:
        for rows in blocks[index :: workers.size]:
            for first in range(0, n, BLOCK_COLUMNS):
                columns = slice(first, min(n, first + BLOCK_COLUMNS))
                # One product serves both directions, along rows and along columns.
                offer(rows, columns, 0, 1, by_row, by_column[index])
                if either_side:
                    for side in range(2):
                        part = slice(side * n, side * n + n)
                        offer(rows, columns, side, side, (own_side[0][part], own_side[1][part]), nothing(0))

    # Each worker multiplies its own blocks, so torch should not start threads as well.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        workers.run(search_blocks)
    finally:
        torch.set_num_threads(threads)
    # Each thread has searched its own rows; of equally similar sentences, the first one wins.
    values, negatives = (np.stack(arrays) for arrays in zip(*by_column, strict=True))
    highest = values.max(axis=0)
    negatives = np.where((values == highest) & (negatives >= 0), negatives, 2 * n).min(axis=0)
    negatives[negatives == 2 * n] = NO_NEGATIVE
    values, negatives = np.append(by_row[0], highest), np.append(by_row[1], negatives)
    return np.where(own_side[0] > values, own_side[1], negatives)


def precision_on(device: str, precision: MiningPrecision) -> MiningPrecision:
    """The precision that is used on a device; on `cpu`, `auto` is the fastest that the processor offers."""
    if device != "cpu":
        return "float32" if precision == "float32" else "bfloat16"
    if precision != "auto":
        return precision
    if has_8_bit_products():
        return "int8"
    return "bfloat16" if llvmlite.binding.get_host_cpu_features().get("avx512bf16") else "float32"


# Numbers below all similarities, in the types that `_similarities` returns.
_LOWEST: dict[torch.dtype, Any] = {
    torch.float32: np.float32(-np.inf),
    torch.bfloat16: np.int16(-0x8000),
    torch.int8: np.int32(-0x80000000),
}


def _limits(sources: Tensor, targets: Tensor, max_share: float | None) -> npt.NDArray[Any]:
    """The largest similarity of a pair's negatives, as `_similarities` gives them; empty if any goes."""
    kind = sources.dtype
    if max_share is None:
        return np.empty(0, _LOWEST[kind].dtype)
    own = (sources.to(torch.float32) * targets.to(torch.float32)).sum(1) * max_share
    if kind != torch.bfloat16:
        return own.floor().to(torch.int32).numpy() if kind == torch.int8 else own.numpy()
    bits = own.bfloat16().view(torch.int16).numpy()[None]
    order_bits(bits)
    return bits[0]


def _similarities(rows: Tensor, columns: Tensor) -> npt.NDArray[Any]:
    """Similarities of all rows to all columns, as numbers that sort as the similarities do."""
    if rows.dtype == torch.int8:
        products: Int32 = torch._int_mm(rows, columns.T).numpy()
        return products
    similarity = rows @ columns.T
    if similarity.dtype == torch.float32:
        return similarity.numpy()
    bits = similarity.view(torch.int16).numpy()
    order_bits(bits)
    return bits


def _in_eight_bits(vectors: Tensor, workers: Workers) -> Tensor:
    """The vectors [n, dim] as int8, all on the same scale."""
    found = torch.empty(vectors.shape, dtype=torch.int8)
    scale = np.float32(127.0 / _largest(vectors[:: -(-len(vectors) // _SAMPLE)].numpy()))
    source, target = vectors.numpy(), found.numpy()
    parts = np.linspace(0, len(vectors), workers.size + 1).astype(np.int64)
    workers.run(lambda index: quantize(source, scale, parts[index], parts[index + 1], target))
    return found


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


@jit
def quantize(source: Float32, scale: Any, start: int, stop: int, target: Int8) -> None:
    """Write rows `start` to `stop` of `source`, times `scale`, as the nearest integers from -127 to 127."""
    bound = np.float32(127.0)
    for i in range(start, stop):
        for j in range(source.shape[1]):
            value = min(max(source[i, j] * scale, -bound), bound)
            target[i, j] = np.int8(np.rint(value))


@jit
def order_bits(bits: npt.NDArray[np.int16]) -> None:
    """Turn bfloat16 into integers of the same order: flip all bits but the sign of negative numbers."""
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            bits[i, j] ^= (bits[i, j] >> np.int16(15)) & np.int16(0x7FFF)


@jit
def scan(
    similarity: npt.NDArray[Any], lowest: Any, start: int, first: int, offset: int,
    has_copy: Bool, source_ids: Int64, target_ids: Int64,
    groups: Int32, group_offsets: Int64, members: Int32, member_offsets: Int64, limits: npt.NDArray[Any],
    row_values: npt.NDArray[Any], row_negatives: Int64,
    column_values: npt.NDArray[Any], column_negatives: Int64,
) -> None:  # fmt: skip
    """Offer a block of similarities to the sentences of its rows and, in the same pass, of its columns.

    Args:
        similarity: [rows, columns], overwritten with `lowest` for barred pairs.
        lowest: a number of the same type that is below all similarities.
        start: pair of the first row.
        first: pair of the first column.
        offset: index of the first sentence of the columns' side.
        has_copy: bool [n], whether a sentence of the pair occurs again.
        source_ids: int64 [n], fingerprints of the sources.
        target_ids: int64 [n], fingerprints of the targets.
        groups: int32, the groups that each pair shares with others, pair after pair.
        group_offsets: int64 [n + 1], where those of each pair begin.
        members: int32, the pairs of each group in ascending order, group after group.
        member_offsets: int64 [number of groups + 1], where those of each group begin.
        limits: [n], the similarity that no negative of a pair's sentences may exceed, if there are any.
        row_values: [n], the highest similarity found so far for each row's sentence.
        row_negatives: int64 [n], the sentence that has this similarity.
        column_values: the same for the columns; if its length is 0, columns get no offers.
        column_negatives: the same for the columns.
    """
    rows, columns = similarity.shape
    both, limited = len(column_values) > 0, len(limits) > 0
    # Indices are narrow, so that a register holds as many of them as of 16-bit similarities.
    best = np.full(columns, lowest, similarity.dtype)
    best_row = np.full(columns, -1, np.int16)
    for i in range(rows):
        own = start + i
        if first <= own < first + columns:
            similarity[i, own - first] = lowest
        if has_copy[own]:
            source, target = source_ids[own], target_ids[own]
            for j in range(columns):
                other_source, other_target = source_ids[first + j], target_ids[first + j]
                if (
                    (source == other_source)
                    | (target == other_target)
                    | (source == other_target)
                    | (target == other_source)
                ):
                    similarity[i, j] = lowest
        for group in groups[group_offsets[own] : group_offsets[own + 1]]:
            alike = members[member_offsets[group] : member_offsets[group + 1]]
            for pair in alike[np.searchsorted(alike, first) :]:
                if pair >= first + columns:
                    break
                similarity[i, pair - first] = lowest
        highest, place = lowest, 0
        limit = limits[own] if limited else lowest
        for chunk in range(0, columns, MAXIMUM_COLUMNS):
            # A slice, since the compiler compares several numbers at once only if no index can be negative.
            part = similarity[i, chunk : min(columns, chunk + MAXIMUM_COLUMNS)]
            top = lowest
            if limited:
                for j in range(len(part)):
                    top = max(top, part[j] if part[j] <= limit else lowest)
            else:
                for j in range(len(part)):
                    top = max(top, part[j])
            if top > highest:
                highest, place = top, chunk
        if highest > row_values[own]:
            while similarity[i, place] != highest:
                place += 1
            row_values[own] = highest
            row_negatives[own] = offset + first + place
        if both:
            row = np.int16(i)
            if limited:
                for j in range(columns):
                    if similarity[i, j] > limits[first + j]:
                        similarity[i, j] = lowest
            for j in range(columns):
                value = similarity[i, j]
                better = value > best[j]
                best[j] = value if better else best[j]
                best_row[j] = row if better else best_row[j]
    if both:
        for j in range(columns):
            if best[j] > column_values[first + j]:
                column_values[first + j] = best[j]
                column_negatives[first + j] = start + best_row[j]


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

    def offer(own_side: bool, first: int, found: Tensor, shift: int, highest: Tensor) -> None:
        part = int(own_side), slice(first, first + len(highest))
        # If candidates are equally similar, the first one stays.
        better = highest > values[part]
        values[part] = torch.where(better, highest, values[part])
        negatives[part] = torch.where(better, found + shift, negatives[part])

    for number, start in enumerate(starts):
        rows = slice(start, min(n, start + DEVICE_ROWS))
        own = copied[bounds[number] : bounds[number + 1]]
        s, t = source[own, None], target[own, None]
        barred = (s == source) | (t == target) | (s == target) | (t == source)
        if len(own) and groups is not None:
            places, pairs = (torch.from_numpy(each).to(own.device) for each in in_same_group(groups, rows))
            barred[torch.searchsorted(own, places + start), pairs] = True
        for left, right in [(0, 1), *([(0, 0), (1, 1)] if either_side else [])]:
            similarity = sides[left][rows] @ sides[right].T
            similarity.diagonal(start).fill_(-torch.inf)
            if len(own):
                similarity[own - start] = similarity[own - start].masked_fill(barred, -torch.inf)
            highest, found = _below(similarity, limits, rows).max(dim=1)
            offer(left == right, left * n + start, found, right * n, highest)
            if left != right:
                # The same product serves the other direction.
                highest, found = _below(similarity.T, limits, slice(None)).max(dim=1)
                offer(False, n, found, start, highest)
    return torch.where(values[1] > values[0], negatives[1], negatives[0])


def _below(similarity: Tensor, limits: Tensor | None, rows: slice) -> Tensor:
    """The similarities of the sentences of `rows` that do not exceed their limits; all others are barred."""
    if limits is None:
        return similarity
    return similarity.masked_fill(similarity > limits[rows, None], -torch.inf)
