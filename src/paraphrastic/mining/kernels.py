"""What the search for nearest neighbours does with numbers, as machine code."""

from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.compiled import compiled, compiled_sum

# Similarities that are compared with what was found so far at a time.
CHUNK = 64

# float32 or int16.
Entries = npt.NDArray[Any]
Int32 = npt.NDArray[np.int32]
Float64 = npt.NDArray[np.float64]


@compiled
def order_bits(bits: npt.NDArray[Any], sign: Any, others: Any) -> None:
    """Turn the bits of floating-point numbers into integers of the same order, or back.

    Args:
        bits: int16 or int32 [rows, columns].
        sign: position of the sign bit, of the same type.
        others: all bits but the sign; those of negative numbers are turned over.
    """
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            bits[i, j] ^= (bits[i, j] >> sign) & others


@compiled
def offer(
    similarity: npt.NDArray[Any], lowest: Any, first_row: int, first_column: int,
    row_values: npt.NDArray[Any], row_found: Int32,
    column_values: npt.NDArray[Any], column_found: Int32, column_bars: npt.NDArray[Any],
) -> None:  # fmt: skip
    """Offer a block of similarities to what its rows and, in the same pass, its columns have found so far.

    Of equal similarities, those stay that were offered first.

    Args:
        similarity: integers, [rows, columns].
        lowest: a number of the same type that is below all similarities.
        first_row: index of the first row.
        first_column: index of the first column.
        row_values: [rows, K], the highest similarities, descending.
        row_found: [rows, K], the columns that have them.
        column_values: [columns, K], the same of the columns.
        column_found: [columns, K], the rows that have them.
        column_bars: [columns], the last one of each column's values; of length 0, columns get no offers.
    """
    rows, columns = similarity.shape
    last = row_values.shape[1] - 1
    both = len(column_bars) > 0
    for i in range(rows):
        for chunk in range((columns + CHUNK - 1) // CHUNK):
            start = chunk * CHUNK
            width = min(CHUNK, columns - start)
            # Most chunks have nothing to offer. Unsigned indices, since Python's may count from the end,
            # which can be seen only one number at a time.
            top, over = lowest, lowest
            for j in range(width):
                top = max(top, similarity[i, np.uint64(start + j)])
            if both:
                for j in range(width):
                    value, bar = similarity[i, np.uint64(start + j)], column_bars[np.uint64(start + j)]
                    over = max(over, value if value > bar else lowest)
            if top > row_values[i, last]:
                for column in range(start, start + width):
                    value = similarity[i, column]
                    if value > row_values[i, last]:
                        place = last
                        while place > 0 and row_values[i, place - 1] < value:
                            row_values[i, place] = row_values[i, place - 1]
                            row_found[i, place] = row_found[i, place - 1]
                            place -= 1
                        row_values[i, place] = value
                        row_found[i, place] = first_column + column
            if over > lowest:
                for column in range(start, start + width):
                    value = similarity[i, column]
                    if value > column_bars[column]:
                        place = last
                        while place > 0 and column_values[column, place - 1] < value:
                            column_values[column, place] = column_values[column, place - 1]
                            column_found[column, place] = column_found[column, place - 1]
                            place -= 1
                        column_values[column, place] = value
                        column_found[column, place] = first_row + i
                        column_bars[column] = column_values[column, last]


@compiled
def merge(values: npt.NDArray[Any], found: Int32, other_values: npt.NDArray[Any], other_found: Int32) -> None:
    """Merge what another thread found for the same columns; of equal similarities, first the lower index.

    Args:
        values: [columns, K], descending.
        found: [columns, K], -1 where there is none.
        other_values: the other thread's.
        other_found: the same.
    """
    columns, size = values.shape
    for i in range(columns):
        for other in range(size):
            value, index = other_values[i, other], other_found[i, other]
            if index < 0:
                break
            place = size
            while place > 0 and (
                found[i, place - 1] < 0
                or values[i, place - 1] < value
                or (values[i, place - 1] == value and found[i, place - 1] > index)
            ):
                place -= 1
                if place < size - 1:
                    values[i, place + 1] = values[i, place]
                    found[i, place + 1] = found[i, place]
            if place == size:
                break
            values[i, place] = value
            found[i, place] = index


@compiled_sum
def product(first: Entries, second: Entries) -> float:
    """Sum of the products of two vectors' entries, in double precision: of integers, it is exact."""
    total = 0.0
    for d in range(len(first)):
        total += np.float64(first[d]) * np.float64(second[d])
    return total


@compiled
def settle(
    entries: Entries, norms: Float64, other_entries: Entries, other_norms: Float64,
    candidates: Int32, found: Int32, cosines: Float64,
) -> None:  # fmt: skip
    """Choose the nearest candidates by their exact cosines; of equal ones, first the lower index.

    Args:
        entries: [n, dim].
        norms: [n], of the entries.
        other_entries: [m, dim].
        other_norms: [m].
        candidates: [n, K], indices of the m, -1 where there is none; k different ones at least. One may be
            there twice.
        found: [n, k], -1, overwritten.
        cosines: [n, k], overwritten.
    """
    k = found.shape[1]
    for i in range(len(candidates)):
        count = 0
        for c in range(candidates.shape[1]):
            other = candidates[i, c]
            known = other < 0
            for place in range(count):
                known |= found[i, place] == other
            if known:
                continue
            norm = norms[i] * other_norms[other]
            cosine = product(entries[i], other_entries[other]) / norm if norm > 0 else 0.0
            place = count
            while place > 0 and (
                cosines[i, place - 1] < cosine
                or (cosines[i, place - 1] == cosine and found[i, place - 1] > other)
            ):
                place -= 1
                if place < k - 1:
                    cosines[i, place + 1] = cosines[i, place]
                    found[i, place + 1] = found[i, place]
            if place < k:
                cosines[i, place] = cosine
                found[i, place] = other
                count = min(count + 1, k)
