"""Compiled passes over products of vectors.

Rounded products only say which pairs of vectors can be near enough to count. The cosines of these pairs are
computed here in double precision, so a pair has the same digits whatever block it is met in.
"""

from typing import Any

import numpy as np

from paraphrastic.base.arrays import Float32, Float64, Int64
from paraphrastic.base.jit import jit, jit_sum

# Stands for the index of a neighbour if there is none.
NOTHING = -1
# Products that are compared with their bars together, and one by one only if one of them reaches its bar.
COMPARED_PRODUCTS = 64


@jit_sum
def product(first: Float32, second: Float32) -> float:
    """Return the dot product of two vectors, summed in double precision."""
    total = 0.0
    for d in range(len(first)):
        total += np.float64(first[d]) * np.float64(second[d])
    return total


@jit
def cosine_of(first: Float32, norm: float, second: Float32, other_norm: float) -> float:
    """Return the cosine of two vectors, or 0 if one of them is zero."""
    norms = norm * other_norm
    return min(max(product(first, second) / norms, -1.0), 1.0) if norms > 0 else 0.0


@jit
def normalize(entries: Float32, norms: Float64, units: Float32) -> None:
    """Write the norms of vectors, [n], and the unit vectors, [n, dim]; zero vectors stay zero.

    If a vector is not finite, its norm is not finite either.
    """
    for i in range(len(entries)):
        norms[i] = np.sqrt(product(entries[i], entries[i]))
        inverse = 1.0 / norms[i] if norms[i] > 0 else 0.0
        for d in range(entries.shape[1]):
            units[i, d] = np.float32(np.float64(entries[i, d]) * inverse)


@jit
def insert(cosines: Float64, indices: Int64, cosine: float, index: int) -> bool:
    """Insert a neighbour into a top-k list if it is near enough; return whether it was.

    The list has `cosines`, [k], descending, and the `indices`, [k], of the vectors that have them. Among
    equals, lower indices come first.
    """
    rank = len(cosines)
    while rank > 0 and (
        cosines[rank - 1] < cosine or (cosines[rank - 1] == cosine and indices[rank - 1] > index)
    ):
        rank -= 1
        if rank + 1 < len(cosines):
            cosines[rank + 1] = cosines[rank]
            indices[rank + 1] = indices[rank]
    if rank == len(cosines):
        return False
    cosines[rank] = cosine
    indices[rank] = index
    return True


@jit
def any_reaches(products: Float32, bar: Any) -> bool:
    """Whether any product, [n], reaches the bar; comparing all of them is fast, many at a time."""
    count = np.int32(0)
    for j in range(len(products)):
        count += np.int32(products[j] >= bar)
    return bool(count > 0)


@jit
def any_reaches_either(products: Float32, bar: Any, bars: Float32) -> bool:
    """Whether any product, [n], reaches the common bar or its own entry of `bars`, [n]."""
    count = np.int32(0)
    for j in range(len(products)):
        count += np.int32((products[j] >= bar) | (products[j] >= bars[j]))
    return bool(count > 0)


@jit
def update_top_k(
    products: Float32, slack: float, lowest: float, zeros: bool,
    entries: Float32, norms: Float64, first: int, cosines: Float64, indices: Int64,
    column_entries: Float32, column_norms: Float64, column_first: int, column_cosines: Float64,
    column_indices: Int64, column_bars: Float32,
) -> None:  # fmt: skip
    """Update the top-k lists of columns and, in the same pass, of the rows of a block of products.

    Args:
        products: [rows, columns], below the cosines by at most `slack`.
        slack: see `Bound`.
        lowest: lower cosines do not count.
        zeros: whether zero vectors are neighbours and have neighbours.
        entries: [rows, dim].
        norms: [rows].
        first: index of the first row.
        cosines: [rows, k], descending; if it is empty, rows have no lists.
        indices: [rows, k], indices of columns.
        column_entries: [columns, dim].
        column_norms: [columns].
        column_first: index of the first column.
        column_cosines: [columns, k], descending.
        column_indices: [columns, k], indices of rows.
        column_bars: [columns]; a product below its bar cannot count for the column.
    """
    last, column_last = cosines.shape[1] - 1, column_cosines.shape[1] - 1
    columns = products.shape[1]
    for i in range(len(products)):
        bar = np.float32(np.inf)
        if len(cosines) > 0:
            bar = np.float32(max(cosines[i, last], lowest) - slack)
        for start in range(0, columns, COMPARED_PRODUCTS):
            stop = min(columns, start + COMPARED_PRODUCTS)
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
                if len(cosines) > 0 and insert(cosines[i], indices[i], cosine, column_first + j):
                    bar = np.float32(max(cosines[i, last], lowest) - slack)
                if insert(column_cosines[j], column_indices[j], cosine, first + i):
                    column_bars[j] = np.float32(max(column_cosines[j, column_last], lowest) - slack)


@jit
def merge(cosines: Float64, indices: Int64, other_cosines: Float64, other_indices: Int64) -> None:
    """Insert into top-k lists, [n, k], the neighbours that were found elsewhere; -1 means none."""
    for i in range(len(cosines)):
        for rank in range(other_indices.shape[1]):
            if other_indices[i, rank] >= 0:
                insert(cosines[i], indices[i], other_cosines[i, rank], other_indices[i, rank])


@jit
def first_near(
    products: Float32, slack: float, threshold: float, same: bool, rows: Int64, columns: Int64,
    entries: Float32, norms: Float64, column_entries: Float32, column_norms: Float64,
    originals: Int64, cosines: Float64,
) -> None:  # fmt: skip
    """Find the first column whose cosine reaches the threshold, for each row of a block of products.

    Args:
        products: [rows, columns], below the cosines by at most `slack`.
        slack: see `Bound`.
        threshold: above 0.
        same: whether the columns are the rows themselves; then a row finds only earlier ones that find none.
        rows: indices of the rows' vectors, ascending.
        columns: indices of the columns' vectors, ascending.
        entries: [rows, dim].
        norms: [rows].
        column_entries: [columns, dim].
        column_norms: [columns].
        originals: int64 [n], overwritten for each row with the vector that was found; rows that already have
            one are skipped.
        cosines: [n], overwritten with the cosine of that vector.
    """
    bar = np.float32(threshold - slack)
    for r in range(len(rows)):
        i = rows[r]
        end = r if same else len(columns)
        for start in range(0, end, COMPARED_PRODUCTS):
            if originals[i] >= 0:
                break
            stop = min(end, start + COMPARED_PRODUCTS)
            if not any_reaches(products[r, start:stop], bar):
                continue
            for j in range(start, stop):
                if products[r, j] < bar or (same and originals[columns[j]] >= 0):
                    continue
                cosine = cosine_of(entries[r], norms[r], column_entries[j], column_norms[j])
                if cosine >= threshold:
                    originals[i], cosines[i] = columns[j], cosine
                    break
