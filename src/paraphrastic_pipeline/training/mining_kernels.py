"""The compiled parts of the search for negatives on a processor."""

from typing import Any

import numpy as np

from paraphrastic.base.arrays import Float32, Int32, Int64
from paraphrastic.base.jit import jit, jit_sum
from paraphrastic_pipeline.training.same_meaning import SameMeaning

NO_NEGATIVE = -1
# Columns whose maximum is taken in one go.
_MAXIMUM_COLUMNS = 128
_MASKED = np.float32(-np.inf)

# The highest similarities, and the sentences that have them.
Found = tuple[Float32, Int64]


def nothing_found(*shape: int) -> Found:
    """Similarities below all others, and no sentences, in arrays of this shape."""
    return np.full(shape, _MASKED), np.full(shape, NO_NEGATIVE, np.int64)


@jit
def scan(
    similarity: Float32, start: int, first: int, offset: int, same_meaning: SameMeaning, limits: Float32,
    by_row: Found, by_column: Found,
) -> None:  # fmt: skip
    """Offer a block of similarities to the sentences of its rows and, in the same pass, of its columns.

    Args:
        similarity: [rows, columns], overwritten where pairs mean the same.
        start: pair of the first row.
        first: pair of the first column.
        offset: index of the first sentence of the columns' side.
        same_meaning: the pairs that are masked.
        limits: [n], the similarity that no negative of a pair's sentences may exceed.
        by_row: [n] each, the highest similarity found so far for each row's sentence, and the sentence that
            has it.
        by_column: the same for the columns; if their length is 0, columns get no offers.
    """
    rows, columns = similarity.shape
    row_values, row_negatives = by_row
    column_values, column_negatives = by_column
    both = len(column_values) > 0
    best = np.full(columns, _MASKED)
    best_row = np.full(columns, -1, np.int32)
    for i in range(rows):
        pair, row = start + i, similarity[i]
        mask(row, first, same_meaning.pairs[same_meaning.offsets[pair] : same_meaning.offsets[pair + 1]])
        highest, place = highest_of(row, limits[pair])
        if highest > row_values[pair]:
            while row[place] != highest:
                place += 1
            row_values[pair] = highest
            row_negatives[pair] = offset + first + place
        if both:
            number = np.int32(i)
            for j in range(columns):
                value = row[j] if row[j] <= limits[first + j] else _MASKED
                better = value > best[j]
                best[j] = value if better else best[j]
                best_row[j] = number if better else best_row[j]
    if both:
        for j in range(columns):
            if best[j] > column_values[first + j]:
                column_values[first + j] = best[j]
                column_negatives[first + j] = start + best_row[j]


@jit
def mask(row: Float32, first: int, pairs: Int32) -> None:
    """Mask the similarities to these pairs, which are in ascending order, in a row that begins at `first`."""
    for pair in pairs[np.searchsorted(pairs, first) :]:
        if pair >= first + len(row):
            break
        row[pair - first] = _MASKED


@jit
def highest_of(row: Float32, limit: Any) -> tuple[Any, int]:
    """The highest similarity of a row up to a limit, and where its columns begin."""
    columns = len(row)
    highest, place = _MASKED, 0
    for chunk in range(0, columns, _MAXIMUM_COLUMNS):
        # A slice, since the compiler compares several numbers at once only if no index can be negative.
        part = row[chunk : min(columns, chunk + _MAXIMUM_COLUMNS)]
        top = _MASKED
        for j in range(len(part)):
            top = max(top, part[j] if part[j] <= limit else _MASKED)
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
def rerank(
    vectors: Float32, offset: int, start: int, stop: int, most: int, found: Found, negatives: Int64
) -> None:
    """Choose the negatives of sentences among the best candidates by their exact similarity.

    Args:
        vectors: [2n, dim] of unit length.
        offset: index of the first sentence of the side.
        start: pair of the first sentence.
        stop: pair after the last one.
        most: number of candidates that are compared.
        found: [blocks, n] each, how similar the best sentence of each block looked, and that sentence.
        negatives: [2n], output; -1 where there is no candidate.
    """
    values, places = found
    looks = np.empty(most, np.float32)
    chosen = np.empty(most, np.int64)
    for i in range(start, stop):
        count = 0
        for block in range(len(values)):
            look, place = values[block, i], places[block, i]
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
