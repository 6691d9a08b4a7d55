"""The compiled passes over products of vectors.

Products in single precision only say which pairs of vectors can be near enough to count. The cosines of these
pairs are computed here, in double precision, so that a pair has the same digits in whatever block it is met.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.jit import jit, jit_sum

# Rows of vectors: float32, or int16 where memory is short.
Entries = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

# In place of an index, where there is no neighbour.
NOTHING = -1
# Products that are compared with their bars at a time, before any of them is looked at alone.
CHUNK = 64


@jit_sum
def product(first: Entries, second: Entries) -> float:
    """Sum of the products of two vectors' entries, in double precision; for integers it is exact."""
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
def normalize(entries: Entries, norms: Float64, units: Float32) -> None:
    """Write the norms of vectors, [n], and the vectors over them, [n, dim]; zero vectors stay zero.

    A vector that is not finite has a norm that is not finite either.
    """
    for i in range(len(entries)):
        norms[i] = np.sqrt(product(entries[i], entries[i]))
        inverse = 1.0 / norms[i] if norms[i] > 0 else 0.0
        for d in range(entries.shape[1]):
            units[i, d] = np.float32(np.float64(entries[i, d]) * inverse)


@jit_sum
def _error(unit: Float32, codes: npt.NDArray[np.int8], scale: Any) -> float:
    """The length of the difference between a vector and its codes times the scale."""
    total = 0.0
    for d in range(len(unit)):
        difference = np.float64(unit[d]) - np.float64(scale) * np.float64(codes[d])
        total += difference * difference
    return np.sqrt(total)


@jit
def encode(units: Float32, codes: npt.NDArray[np.int8], scales: Float32, errors: Float32) -> None:
    """Write vectors, [n, dim], as whole numbers times a scale, and how long the error of each is, [n]."""
    for i in range(len(units)):
        largest = np.float32(0)
        for d in range(units.shape[1]):
            largest = max(largest, abs(units[i, d]))
        scales[i] = largest / np.float32(127)
        inverse = np.float32(127) / largest if largest > 0 else np.float32(0)
        for d in range(units.shape[1]):
            codes[i, d] = np.int8(np.rint(units[i, d] * inverse))
        errors[i] = _error(units[i], codes[i], scales[i])


@jit
def reach(
    products: npt.NDArray[np.int32], scales: Float32, errors: Float32,
    column_scales: Float32, column_errors: Float32, out: Float32,
) -> None:  # fmt: skip
    """Write what cosines of vectors are at most, by the products of their codes, [n, m], to `out`, [n, m].

    The cosine of vectors sa + e and tb + f, with whole numbers a and b, is st times the product of a and b,
    and the products of e with a unit vector and of f with one that is no longer than 1 + |e|.
    """
    for i in range(len(products)):
        factor = np.float32(1) + errors[i]
        for j in range(products.shape[1]):
            error = errors[i] + factor * column_errors[j]
            out[i, j] = np.float32(products[i, j]) * (scales[i] * column_scales[j]) + error


@jit
def offer(cosines: Float64, found: Int64, cosine: float, index: int) -> bool:
    """Put a neighbour in its place among those of a vector, if it has one; the lower of equals comes first.

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
def any_reaches(products: Float32, bar: Any) -> bool:
    """Whether a product, [n], is not below the bar; all are compared, since that is done many at a time."""
    count = np.int32(0)
    for j in range(len(products)):
        count += np.int32(products[j] >= bar)
    return bool(count > 0)


@jit
def any_reaches_either(products: Float32, bar: Any, bars: Float32) -> bool:
    """Whether a product, [n], is not below the bar, or not below its own one of `bars`, [n]."""
    count = np.int32(0)
    for j in range(len(products)):
        count += np.int32((products[j] >= bar) | (products[j] >= bars[j]))
    return bool(count > 0)


@jit
def offer_block(
    products: Float32, slack: float, lowest: float, zeros: bool,
    entries: Entries, norms: Float64, first: int, cosines: Float64, found: Int64,
    column_entries: Entries, column_norms: Float64, column_first: int, column_cosines: Float64,
    column_found: Int64, column_bars: Float32,
) -> None:  # fmt: skip
    """Offer the rows of a block of products to its columns and, in the same pass, the columns to the rows.

    Args:
        products: [rows, columns], lower than cosines by `slack` at most.
        slack: see `Bound`.
        lowest: cosines below are not offered.
        zeros: whether zero vectors are offered and get offers.
        entries: [rows, dim].
        norms: [rows].
        first: index of the first row.
        cosines: [rows, k], descending; of length 0, rows get no offers.
        found: [rows, k], indices of columns.
        column_entries: [columns, dim].
        column_norms: [columns].
        column_first: index of the first column.
        column_cosines: [columns, k], descending.
        column_found: [columns, k], indices of rows.
        column_bars: [columns], below which a product cannot count for the column.
    """
    last, column_last = cosines.shape[1] - 1, column_cosines.shape[1] - 1
    columns = products.shape[1]
    for i in range(len(products)):
        bar = np.float32(np.inf)
        if len(cosines) > 0:
            bar = np.float32(max(cosines[i, last], lowest) - slack)
        for start in range(0, columns, CHUNK):
            stop = min(columns, start + CHUNK)
            if not any_reaches_either(products[i, start:stop], bar, column_bars[start:stop]):
                continue
            for j in range(start, stop):
                value = products[i, j]
                if value < bar and value < column_bars[j]:
                    continue
                if not zeros and not (norms[i] > 0 and column_norms[j] > 0):
                    continue
                cosine = cosine_of(entries[i], norms[i], column_entries[j], column_norms[j])
                if cosine < lowest:
                    continue
                if len(cosines) > 0 and offer(cosines[i], found[i], cosine, column_first + j):
                    bar = np.float32(max(cosines[i, last], lowest) - slack)
                if offer(column_cosines[j], column_found[j], cosine, first + i):
                    column_bars[j] = np.float32(max(column_cosines[j, column_last], lowest) - slack)


@jit
def offer_rows(
    entries: Entries, norms: Float64, first: int, lowest: float, zeros: bool,
    column_entries: Entries, column_norms: Float64, cosines: Float64, found: Int64,
) -> None:  # fmt: skip
    """Write the norms of rows, [rows], and offer all of them to a few columns, without products of a block.

    The arguments are those of `offer_block`; `cosines` and `found` are the columns'.
    """
    for i in range(len(entries)):
        norms[i] = np.sqrt(product(entries[i], entries[i]))
        for j in range(len(column_entries)):
            if zeros or (norms[i] > 0 and column_norms[j] > 0):
                cosine = cosine_of(entries[i], norms[i], column_entries[j], column_norms[j])
                if cosine >= lowest:
                    offer(cosines[j], found[j], cosine, first + i)


@jit
def merge(cosines: Float64, found: Int64, other_cosines: Float64, other_found: Int64) -> None:
    """Offer to each vector, [n, k], what was found for it elsewhere, -1 where there is nothing."""
    for i in range(len(cosines)):
        for place in range(other_found.shape[1]):
            if other_found[i, place] >= 0:
                offer(cosines[i], found[i], other_cosines[i, place], other_found[i, place])


@jit
def first_near(
    products: Float32, slack: float, threshold: float, own: bool, rows: Int64, columns: Int64,
    entries: Entries, norms: Float64, column_entries: Entries, column_norms: Float64,
    found: Int64, cosines: Float64,
) -> None:  # fmt: skip
    """Find for each row of a block of products its first column whose cosine is the threshold or more.

    Args:
        products: [rows, columns], lower than cosines by `slack` at most.
        slack: see `Bound`.
        threshold: above 0.
        own: the columns are the rows; only earlier ones that find none themselves are to be found.
        rows: indices of the rows' vectors, ascending.
        columns: the same for columns.
        entries: [rows, dim].
        norms: [rows].
        column_entries: [columns, dim].
        column_norms: [columns].
        found: int64 [n], overwritten for the rows with the vector that was found; those that have one are
            passed over.
        cosines: [n], overwritten with its cosine.
    """
    bar = np.float32(threshold - slack)
    for r in range(len(rows)):
        i = rows[r]
        end = r if own else len(columns)
        for start in range(0, end, CHUNK):
            if found[i] >= 0:
                break
            stop = min(end, start + CHUNK)
            if not any_reaches(products[r, start:stop], bar):
                continue
            for j in range(start, stop):
                if products[r, j] < bar or (own and found[columns[j]] >= 0):
                    continue
                cosine = cosine_of(entries[r], norms[r], column_entries[j], column_norms[j])
                if cosine >= threshold:
                    found[i], cosines[i] = columns[j], cosine
                    break
