"""The compiled parts of the search for negatives on a processor."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Bool, Float32, Int8, Int32, Int64
from paraphrastic.base.jit import jit, jit_sum

# Columns whose maximum is taken in one go.
MAXIMUM_COLUMNS = 128

# Highest similarities, and the sentences that have them.
Found = tuple[npt.NDArray[Any], Int64]


class Barred(NamedTuple):
    """Which pairs have no negatives for each other's sentences.

    Attributes:
        has_copy: bool [n], whether a sentence of the pair occurs again.
        source_ids: int64 [n], fingerprints of the sources.
        target_ids: int64 [n], fingerprints of the targets.
        groups: int32, the groups that each pair shares with others, pair after pair.
        group_offsets: int64 [n + 1], where those of each pair begin.
        members: int32, the pairs of each group in ascending order, group after group.
        member_offsets: int64 [number of groups + 1], where those of each group begin.
        limits: [n], the similarity that no negative of a pair's sentences may exceed, if there are any.
    """

    has_copy: Bool
    source_ids: Int64
    target_ids: Int64
    groups: Int32
    group_offsets: Int64
    members: Int32
    member_offsets: Int64
    limits: npt.NDArray[Any]


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
    similarity: npt.NDArray[Any], lowest: Any, start: int, first: int, offset: int, barred: Barred,
    by_row: Found, by_column: Found,
) -> None:  # fmt: skip
    """Offer a block of similarities to the sentences of its rows and, in the same pass, of its columns.

    Args:
        similarity: [rows, columns], overwritten with `lowest` for barred pairs.
        lowest: a number of the same type that is below all similarities.
        start: pair of the first row.
        first: pair of the first column.
        offset: index of the first sentence of the columns' side.
        barred: the pairs that are left out.
        by_row: [n] each, the highest similarity found so far for each row's sentence, and the sentence that
            has it.
        by_column: the same for the columns; if their length is 0, columns get no offers.
    """
    rows, columns = similarity.shape
    row_values, row_negatives = by_row
    column_values, column_negatives = by_column
    has_copy, source_ids, target_ids, groups, group_offsets, members, member_offsets, limits = barred
    both, limited = len(column_values) > 0, len(limits) > 0
    # Indices are narrow, so that a register holds as many of them as of 16-bit similarities.
    best = np.full(columns, lowest, similarity.dtype)
    best_row = np.full(columns, -1, np.int16)
    for i in range(rows):
        pair, row = start + i, similarity[i]
        if first <= pair < first + columns:
            row[pair - first] = lowest
        if has_copy[pair]:
            bar_copies(
                row, lowest, source_ids[pair], target_ids[pair], source_ids[first:], target_ids[first:]
            )
        for group in groups[group_offsets[pair] : group_offsets[pair + 1]]:
            bar_members(row, lowest, first, members[member_offsets[group] : member_offsets[group + 1]])
        highest, place = highest_of(row, lowest, limits[pair] if limited else lowest, limited)
        if highest > row_values[pair]:
            while row[place] != highest:
                place += 1
            row_values[pair] = highest
            row_negatives[pair] = offset + first + place
        if both:
            if limited:
                for j in range(columns):
                    if row[j] > limits[first + j]:
                        row[j] = lowest
            number = np.int16(i)
            for j in range(columns):
                value = row[j]
                better = value > best[j]
                best[j] = value if better else best[j]
                best_row[j] = number if better else best_row[j]
    if both:
        for j in range(columns):
            if best[j] > column_values[first + j]:
                column_values[first + j] = best[j]
                column_negatives[first + j] = start + best_row[j]


@jit
def bar_copies(
    row: npt.NDArray[Any], lowest: Any, source: int, target: int, sources: Int64, targets: Int64
) -> None:
    """Overwrite the similarities to pairs that share a sentence; `sources` and `targets` are the columns'."""
    for j in range(len(row)):
        other_source, other_target = sources[j], targets[j]
        if (
            (source == other_source)
            | (target == other_target)
            | (source == other_target)
            | (target == other_source)
        ):
            row[j] = lowest


@jit
def bar_members(row: npt.NDArray[Any], lowest: Any, first: int, members: Int32) -> None:
    """Overwrite the similarities to the pairs of a group, which are in ascending order."""
    for pair in members[np.searchsorted(members, first) :]:
        if pair >= first + len(row):
            break
        row[pair - first] = lowest


@jit
def highest_of(row: npt.NDArray[Any], lowest: Any, limit: Any, limited: bool) -> tuple[Any, int]:
    """The highest similarity of a row, up to the limit if it is `limited`, and where its columns begin."""
    columns = len(row)
    highest, place = lowest, 0
    for chunk in range(0, columns, MAXIMUM_COLUMNS):
        # A slice, since the compiler compares several numbers at once only if no index can be negative.
        part = row[chunk : min(columns, chunk + MAXIMUM_COLUMNS)]
        top = lowest
        if limited:
            for j in range(len(part)):
                top = max(top, part[j] if part[j] <= limit else lowest)
        else:
            for j in range(len(part)):
                top = max(top, part[j])
        if top > highest:
            highest, place = top, chunk
    return highest, place


@jit_sum
def _product(first: Float32, second: Float32) -> Any:
    """The product of two vectors in single precision."""
    total = np.float32(0)
    for i in range(len(first)):
        total += first[i] * second[i]
    return total


@jit
def second_look(
    vectors: Float32, offset: int, start: int, stop: int, most: int,
    values: Float32, places: Int64, own_values: Float32, own_places: Int64, negatives: Int64,
) -> None:  # fmt: skip
    """Choose the negatives of sentences among the best candidates by their exact similarity.

    Args:
        vectors: [2n, dim] of unit length.
        offset: index of the first sentence of the side.
        start: pair of the first sentence.
        stop: pair after the last one.
        most: number of candidates that are compared.
        values: [blocks, n], how similar the best sentence of the other side in each block looked.
        places: [blocks, n], that sentence.
        own_values: the same for the sentence's own side, if that is searched.
        own_places: the same.
        negatives: [2n], output; -1 where there is no candidate.
    """
    blocks, own_blocks = len(values), len(own_values)
    looks = np.empty(most, np.float32)
    chosen = np.empty(most, np.int64)
    for i in range(start, stop):
        count = 0
        for block in range(blocks + own_blocks):
            own = block >= blocks
            look = own_values[block - blocks, i] if own else values[block, i]
            place = own_places[block - blocks, i] if own else places[block, i]
            if place < 0 or (count == most and look <= looks[count - 1]):
                continue
            count = min(most, count + 1)
            k = count - 1
            while k > 0 and looks[k - 1] < look:
                looks[k], chosen[k] = looks[k - 1], chosen[k - 1]
                k -= 1
            looks[k], chosen[k] = look, place
        best, negative, best_is_own = np.float32(-np.inf), -1, False
        for k in range(count):
            place = chosen[k]
            similarity = _product(vectors[offset + i], vectors[place])
            # Among equals, the first one of the other side wins, and then the first one of its own.
            is_own = (place >= offset) and (place < offset + len(vectors) // 2)
            first = (is_own, place) < (best_is_own, negative)
            if similarity > best or (similarity == best and first):
                best, negative, best_is_own = similarity, place, is_own
        negatives[offset + i] = negative
