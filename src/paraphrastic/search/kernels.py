"""What searches among vectors do with numbers, as machine code."""

from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.jit import jit, jit_sum
from paraphrastic.search.tiles import ROWS, WIDTH, tile, tile_both_ways

# float32 or int16.
Entries = npt.NDArray[Any]
# uint8 or int16.
Codes = npt.NDArray[Any]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

NOTHING = -1
# Below and above all products.
LOWEST, HIGHEST = np.int32(-(2**31)), np.int32(2**31 - 1)
# What is added to the products of columns that are not there.
ABSENT = np.int32(-(2**30))


@jit_sum
def product(first: Entries, second: Entries) -> float:
    """Sum of the products of two vectors' entries, in double precision: of integers, it is exact."""
    total = 0.0
    for d in range(len(first)):
        total += np.float64(first[d]) * np.float64(second[d])
    return total


@jit
def cosine_of(first: Entries, norm: float, second: Entries, other_norm: float) -> float:
    """Cosine of two vectors; 0 where one is zero."""
    norms = norm * other_norm
    return min(max(product(first, second) / norms, -1.0), 1.0) if norms > 0 else 0.0


@jit
def measure(entries: Entries, norms: Float64) -> None:
    """Write the norms of vectors, [n]; one that is not finite has a norm that is not."""
    for i in range(len(entries)):
        norms[i] = np.sqrt(product(entries[i], entries[i]))


@jit
def normalize(entries: Entries, norms: Float64, units: Float32) -> None:
    """Write the unit vectors, [n, dim]."""
    for i in range(len(entries)):
        inverse = 1.0 / norms[i] if norms[i] > 0 else 0.0
        for d in range(entries.shape[1]):
            units[i, d] = np.float32(np.float64(entries[i, d]) * inverse)


@jit_sum
def compare_code(units: Float32, code: Codes, scale: Any, offset: int) -> tuple[Any, Any]:
    """Squared distance of a vector from what its code stands for, and the sum of the code."""
    distance, total = np.float32(0.0), np.int32(0)
    for d in range(len(units)):
        number = np.int32(code[d]) - np.int32(offset)
        left = units[d] - np.float32(number) * scale
        distance += left * left
        total += number
    return distance, total


@jit
def encode(
    units: Float32, rests: Float32, unit: float, guards: int, codes: Codes, sums: Int32, distances: Float64
) -> None:
    """Write vectors as integers, and after them what bounds the products of what is left of the vectors.

    Args:
        units: [n, p].
        rests: [n], lengths of what is left of the vectors.
        unit: of the integers.
        guards: places after the p of a code, whose product is the product of two rests at least.
        codes: [n, places], overwritten: what they stand for, of eight bits plus 128; 0 beyond p + guards.
        sums: [n], of what the codes stand for, overwritten.
        distances: [n], of the vectors from what is multiplied in their place, overwritten.
    """
    offset, largest = (128, 127) if codes.itemsize == 1 else (0, 32767)
    p = units.shape[1]
    inverse, scale = np.float32(1.0 / unit), np.float32(unit)
    low, high = np.float32(-largest), np.float32(largest)
    for i in range(len(units)):
        for d in range(p):
            codes[i, d] = np.int32(min(max(np.rint(units[i, d] * inverse), low), high)) + offset
        distance, total = compare_code(units[i], codes[i, :p], scale, offset)
        guard = np.int32(np.ceil(rests[i] / (unit * np.sqrt(max(1.0, guards)))))
        codes[i, p : p + guards] = guard + offset
        codes[i, p + guards :] = offset
        sums[i] = total + guards * guard
        distances[i] = np.sqrt(np.float64(distance))


@jit
def pack(words: UInt32, rows: Int64, flip: Any, panels: UInt32) -> None:
    """Lay the words of `rows` out as a tile reads columns.

    Args:
        words: [n, words], four bytes of codes each.
        rows: [m], indices.
        flip: bits that are turned over, by which 128 is taken from bytes.
        panels: [panels, words, WIDTH], overwritten where there are rows.
    """
    for i in range(len(rows)):
        for word in range(words.shape[1]):
            panels[i // WIDTH, word, i % WIDTH] = words[rows[i], word] ^ flip


@jit
def bar_of(cosine: float, unit: float) -> Any:
    """What the product of two codes, in this unit, must be above for a cosine above the given one."""
    bar = np.floor(cosine / unit)
    return np.int32(bar) if bar > LOWEST else LOWEST


@jit
def offer(cosines: Float64, found: Int64, cosine: float, index: int) -> bool:
    """Put a neighbour in its place among those of a vector, if it has one; of equals, first the lower index.

    Args:
        cosines: [k], descending.
        found: [k], indices.
        cosine: of the new one.
        index: of the new one.

    Returns:
        Whether it has a place.
    """
    place = len(cosines)
    while place > 0 and (
        cosines[place - 1] < cosine or (cosines[place - 1] == cosine and found[place - 1] > index)
    ):
        place -= 1
        if place + 1 < len(cosines):
            cosines[place + 1] = cosines[place]
            found[place + 1] = found[place]
    if place == len(cosines):
        return False
    cosines[place] = cosine
    found[place] = index
    return True


@jit
def offer_all(
    entries: Entries, norms: Float64, first: int, row_entries: Entries, row_norms: Float64, lowest: float,
    cosines: Float64, found: Int64,
) -> None:  # fmt: skip
    """Offer columns to rows after comparing all of them; zero vectors are not offered, and get no offers.

    Args:
        entries: [columns, dim].
        norms: [columns].
        first: index of the first column.
        row_entries: [rows, dim].
        row_norms: [rows].
        lowest: cosines below are not offered.
        cosines: [rows, k], descending.
        found: [rows, k], indices of columns.
    """
    for j in range(len(norms)):
        for i in range(len(row_norms)):
            if norms[j] > 0 and row_norms[i] > 0:
                cosine = cosine_of(row_entries[i], row_norms[i], entries[j], norms[j])
                if cosine >= lowest:
                    offer(cosines[i], found[i], cosine, first + j)


@jit
def offer_some(
    candidates: Int64, entries: Entries, norms: Float64, row_entries: Entries, row_norms: Float64,
    lowest: float, cosines: Float64, found: Int64,
) -> None:  # fmt: skip
    """Offer to each row some of the columns, [rows, candidates]; else as `offer_all`."""
    for i in range(len(candidates)):
        for place in range(candidates.shape[1]):
            j = candidates[i, place]
            if norms[j] > 0 and row_norms[i] > 0:
                cosine = cosine_of(row_entries[i], row_norms[i], entries[j], norms[j])
                if cosine >= lowest:
                    offer(cosines[i], found[i], cosine, j)


@jit
def merge(cosines: Float64, found: Int64, other_cosines: Float64, other_found: Int64) -> None:
    """Offer to each vector, [n, k], what was found for it elsewhere, -1 where there is none."""
    for i in range(len(cosines)):
        for place in range(other_found.shape[1]):
            if other_found[i, place] >= 0:
                offer(cosines[i], found[i], other_cosines[i, place], other_found[i, place])


@jit
def nearest(
    codes: Codes, more: Int32, entries: Entries, norms: Float64, start: int, stop: int,
    panels: UInt32, column_more: Int32, column_entries: Entries, column_norms: Float64, first: int,
    unit: float, lowest: float, zeros: bool,
    cosines: Float64, found: Int64, column_cosines: Float64, column_found: Int64, column_bars: Int32,
) -> None:  # fmt: skip
    """Offer columns to the rows from `start` to `stop` and, in the same pass, these rows to the columns.

    Only pairs whose codes do not rule it out are compared.

    Args:
        codes: of all rows, see `encode`.
        more: int32 [rows], added to the products of their codes, which are then above the cosines.
        entries: [rows, dim].
        norms: [rows].
        start: first row, a multiple of `ROWS` less than `stop`.
        stop: after the last row.
        panels: codes of the columns, see `pack`.
        column_more: [panels · WIDTH], as `more`; `ABSENT` beyond the columns.
        column_entries: [columns, dim].
        column_norms: [columns].
        first: index of the first column.
        unit: of the products.
        lowest: cosines below are not offered.
        zeros: whether zero vectors are offered and get offers.
        cosines: [rows, k], descending.
        found: [rows, k], indices of columns.
        column_cosines: [columns, k]; of length 0, columns get no offers.
        column_found: [columns, k], indices of rows.
        column_bars: [panels · WIDTH], of the columns, see `bar_of`.
    """
    n = stop - start
    padded = (n + ROWS - 1) // ROWS * ROWS
    places, own_more = np.empty(padded, np.int64), np.empty(padded, np.int32)
    bars, bits = np.empty(padded, np.int32), np.empty(ROWS, np.uint64)
    below = bar_of(np.nextafter(lowest, -np.inf), unit)
    last, column_last = cosines.shape[1] - 1, column_cosines.shape[1] - 1
    both = len(column_cosines) > 0
    for row in range(padded):
        i = min(start + row, stop - 1)
        places[row] = i * codes.shape[1] * codes.itemsize
        own_more[row] = more[i]
        bars[row] = max(below, bar_of(cosines[i, last], unit))
        if row >= n or not (zeros or norms[i] > 0):
            bars[row] = HIGHEST
    words = panels.shape[1]
    for panel in range(len(panels)):
        at = panel * WIDTH
        for row in range(0, padded, ROWS):
            if both:
                tile_both_ways(
                    codes, places.ctypes.data + 8 * row, own_more.ctypes.data + 4 * row,
                    bars.ctypes.data + 4 * row, panels.ctypes.data + 4 * at * words, words,
                    column_more.ctypes.data + 4 * at, bits.ctypes.data, column_bars.ctypes.data + 4 * at,
                )  # fmt: skip
            else:
                tile(
                    codes, places.ctypes.data + 8 * row, own_more.ctypes.data + 4 * row,
                    bars.ctypes.data + 4 * row, panels.ctypes.data + 4 * at * words, words,
                    column_more.ctypes.data + 4 * at, bits.ctypes.data,
                )  # fmt: skip
            for line in range(min(ROWS, n - row)):
                if bits[line] == 0:
                    continue
                i = start + row + line
                for j in range(at, min(at + WIDTH, len(column_norms))):
                    if not (bits[line] >> np.uint64(j - at)) & np.uint64(1):
                        continue
                    if not zeros and not (norms[i] > 0 and column_norms[j] > 0):
                        continue
                    cosine = cosine_of(entries[i], norms[i], column_entries[j], column_norms[j])
                    if cosine < lowest:
                        continue
                    if offer(cosines[i], found[i], cosine, first + j):
                        bars[row + line] = max(below, bar_of(cosines[i, last], unit))
                    if both and offer(column_cosines[j], column_found[j], cosine, i):
                        column_bars[j] = max(below, bar_of(column_cosines[j, column_last], unit))


@jit
def first_near(
    codes: Codes, more: Int32, entries: Entries, norms: Float64, rows: Int64,
    panels: UInt32, column_more: Int32, columns: Int64, unit: float, threshold: float, own: bool,
    found: Int64, cosines: Float64,
) -> None:  # fmt: skip
    """Find for each of some vectors the first one of others whose cosine is the threshold or more.

    Args:
        codes: of all n vectors, see `encode`.
        more: int32 [n], added to the products of their codes, which are then above the cosines.
        entries: [n, dim].
        norms: [n].
        rows: indices of the vectors to look for, ascending.
        panels: codes of the columns, see `pack`.
        column_more: [panels · WIDTH], as `more`; `ABSENT` beyond the columns.
        columns: indices of the vectors that may be found, ascending.
        unit: of the products.
        threshold: above 0.
        own: the columns are the rows; of them, only earlier ones that find none themselves are to be found.
        found: int64 [n], `NOTHING` for all `rows`; overwritten with the vector found, if there is one.
        cosines: [n], overwritten with its cosine.
    """
    left, count = rows.copy(), len(rows)
    places, own_more = np.zeros(count + ROWS, np.int64), np.zeros(count + ROWS, np.int32)
    bars, bits = np.full(ROWS, bar_of(np.nextafter(threshold, -np.inf), unit)), np.empty(ROWS, np.uint64)
    words = panels.shape[1]
    begin, changed = 0, True
    for panel in range(len(panels)):
        at = panel * WIDTH
        if changed:
            # Those that have found one are done.
            kept = 0
            for row in range(count):
                i = left[row]
                if found[i] < 0:
                    left[kept], places[kept], own_more[kept] = i, i * codes.shape[1] * codes.itemsize, more[i]
                    kept += 1
            begin, count, changed = 0, kept, False
        while own and begin < count and left[begin] <= columns[at]:
            begin += 1
        for row in range(begin, count, ROWS):
            tile(
                codes, places.ctypes.data + 8 * row, own_more.ctypes.data + 4 * row, bars.ctypes.data,
                panels.ctypes.data + 4 * at * words, words, column_more.ctypes.data + 4 * at,
                bits.ctypes.data,
            )  # fmt: skip
            for line in range(min(ROWS, count - row)):
                if bits[line] == 0:
                    continue
                i = left[row + line]
                for j in range(at, min(at + WIDTH, len(columns))):
                    other = columns[j]
                    if own and other >= i:
                        break
                    if not (bits[line] >> np.uint64(j - at)) & np.uint64(1) or (own and found[other] >= 0):
                        continue
                    cosine = cosine_of(entries[i], norms[i], entries[other], norms[other])
                    if cosine >= threshold:
                        found[i], cosines[i], changed = other, cosine, True
                        break
