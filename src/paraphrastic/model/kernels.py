"""The computations of embedding, on bytes and on numbers, as machine code.

Sums follow the order of the pieces, so the digits of a sentence's vector depend neither on the sentences that
are embedded with it nor on the number of threads.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from paraphrastic.base.arrays import Bool, Float32, Float64, Int32, Int64, UInt8, UInt64
from paraphrastic.base.jit import jit_exactly, jit_sum

# Constants of FNV-1a, a hash that costs next to nothing while the end of a word is searched for.
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_SPACE = np.uint8(0x20)
# Pieces that are summed in single precision. Longer sentences add the sums of such parts in double precision.
PART = 32
# Marks the first word without an entry; the next ones are -2, -3, …
MISSING = -1


@jit_exactly
def find_words(
    text: UInt8, ends: Int64, slots: Int32, hashes: UInt64, key_ends: Int64, keys: UInt8,
    words: Int32, word_ends: Int64, missing: Int64, missing_hashes: UInt64,
) -> int:  # fmt: skip
    """Look up the words of sentences, which are separated by spaces, in a hash table.

    Args:
        text: sentences in UTF-8, with one byte between them that belongs to none.
        ends: where each sentence ends in `text`, [n].
        slots: a word's entry, at its hash or after it, or -1; the number of slots is a power of two.
        hashes: hash of each entry.
        key_ends: the word of entry i is `keys[key_ends[i]:key_ends[i + 1]]`.
        keys: the words of all entries, one after the other.
        words: output, the entry of each word, or `MISSING - k` for word k of `missing`.
        word_ends: output, where the words of each sentence end in `words`, [n].
        missing: output, where each word without an entry begins and ends in `text`, [k, 2].
        missing_hashes: output, the hashes of these words.

    Returns:
        The number of words without an entry.
    """
    mask = np.uint64(len(slots) - 1)
    n_words, absent, start = 0, 0, 0
    for i in range(len(ends)):
        end = ends[i]
        at = start
        while at < end:
            if text[at] == _SPACE:
                at += 1
                continue
            first, code = at, _BASIS
            while at < end and text[at] != _SPACE:
                code = (code ^ np.uint64(text[at])) * _PRIME
                at += 1
            # The low bits of a product do not depend on the high bits of its factors, so mix those in.
            place = (code ^ (code >> np.uint64(32))) & mask
            entry = slots[place]
            while entry >= 0:
                if hashes[entry] == code and key_ends[entry + 1] - key_ends[entry] == at - first:
                    shift = key_ends[entry] - first
                    same = True
                    for j in range(first, at):
                        same &= text[j] == keys[j + shift]
                    if same:
                        break
                place = (place + np.uint64(1)) & mask
                entry = slots[place]
            if entry < 0:
                entry = np.int32(MISSING - absent)
                missing[absent, 0], missing[absent, 1] = first, at
                missing_hashes[absent] = code
                absent += 1
            words[n_words] = entry
            n_words += 1
        word_ends[i] = n_words
        start = end + 1
    return absent


@jit_exactly
def insert(slots: Int32, hashes: UInt64, first: int, last: int) -> None:
    """Add entries `first` to `last` to the table of `find_words`, which must have more slots than entries."""
    mask = np.uint64(len(slots) - 1)
    for entry in range(first, last):
        code = hashes[entry]
        place = (code ^ (code >> np.uint64(32))) & mask
        while slots[place] >= 0:
            place = (place + np.uint64(1)) & mask
        slots[place] = entry


@jit_exactly
def gather_pieces(
    words: Int32, word_ends: Int64, entries: Int32, piece_ends: Int64, pieces: Int32, has_pieces: Bool,
    gathered: Int32, ends: Int64, has_text: Bool,
) -> int:  # fmt: skip
    """Gather each sentence's pieces from the pieces of its words.

    Args:
        words: from `find_words`.
        word_ends: from `find_words`.
        entries: entries of the words that were missing.
        piece_ends: the known pieces of entry i are `pieces[piece_ends[i]:piece_ends[i + 1]]`.
        pieces: the known pieces of all entries.
        has_pieces: whether an entry has any pieces, known or not.
        gathered: output; if its length is 0, pieces are only counted.
        ends: output, [n + 1]: the pieces of sentence i are `gathered[ends[i]:ends[i + 1]]`.
        has_text: output, [n]: whether a sentence has any pieces, known or not.

    Returns:
        The number of pieces.
    """
    total, start = 0, 0
    ends[0] = 0
    for i in range(len(word_ends)):
        some = False
        for j in range(start, word_ends[i]):
            entry = words[j] if words[j] >= 0 else entries[MISSING - words[j]]
            first, last = piece_ends[entry], piece_ends[entry + 1]
            if len(gathered):
                for k in range(first, last):
                    gathered[total + k - first] = pieces[k]
            total += last - first
            some |= has_pieces[entry]
        start = word_ends[i]
        ends[i + 1] = total
        has_text[i] = some
    return total


def _number_of(typing_context: Any, entry: Any) -> Any:
    """The float32 that a table's entry stands for; an int16 holds the bits of a half-precision number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if entry == types.int16:
            return builder.fpext(builder.bitcast(arguments[0], ir.HalfType()), ir.FloatType())
        if entry == types.int8:
            return builder.sitofp(arguments[0], ir.FloatType())
        return arguments[0]

    return types.float32(entry), generate


_number: Any = intrinsic(_number_of)


def _entry_of(typing_context: Any, number: Any, like: Any) -> Any:
    """The entry that stands for a float32, in the type of the entry `like`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if like == types.int16:
            return builder.bitcast(builder.fptrunc(arguments[0], ir.HalfType()), ir.IntType(16))
        return arguments[0]

    return like(number, like), generate


_entry: Any = intrinsic(_entry_of)


def as_entries(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """View an array as the kernels take it: half-precision numbers as their bits."""
    return array.view(np.int16) if array.dtype == np.float16 else array


@jit_sum
def _product(first: Float32, second: Float32) -> float:
    total = 0.0
    for k in range(np.uintp(len(first))):
        total += np.float64(first[k]) * np.float64(second[k])
    return total


@jit_exactly
def cosine_rows(first: Float32, second: Float32, cosines: Float64) -> None:
    """Write the cosine of row i of one matrix with row i of the other; 0 if a row is zero."""
    for i in range(len(first)):
        norms = np.sqrt(_product(first[i], first[i]) * _product(second[i], second[i]))
        # NaN stays NaN.
        cosine = _product(first[i], second[i]) / norms if norms != 0.0 else 0.0
        cosines[i] = -1.0 if cosine < -1.0 else 1.0 if cosine > 1.0 else cosine


@jit_exactly
def average(
    table: npt.NDArray[Any], weights: Float32, pieces: Int32, ends: Int64, has_text: Bool, unknown: Float32,
    normalize: bool, vectors: npt.NDArray[Any],
) -> None:  # fmt: skip
    """Average each sentence's rows; text without known pieces gives `unknown`, an empty sentence zeros.

    Args:
        table: [rows, d], float32, int8, or int16 for the bits of half-precision numbers.
        weights: float32 [rows], factors of the rows.
        pieces: rows of the sentences' known pieces, one sentence after the other.
        ends: [n + 1]; the pieces of sentence i are `pieces[ends[i]:ends[i + 1]]`.
        has_text: [n], whether a sentence without known pieces has the vector `unknown`.
        unknown: float32 [d].
        normalize: scale vectors to length 1, except those that are zero.
        vectors: output [n, d], float32, or int16 (see `table`).
    """
    dim = np.uintp(table.shape[1])
    sums, totals = np.empty(dim, np.float32), np.empty(dim, np.float64)
    for i in range(len(has_text)):
        at, last = ends[i], ends[i + 1]
        size = max(1, last - at)
        count, is_long = np.float32(size), size > PART
        if at == last and has_text[i]:
            for k in range(dim):
                sums[k] = unknown[k]
        else:
            for k in range(dim):
                sums[k] = np.float32(0.0)
        if is_long:
            totals[:] = 0.0
        while at < last:
            stop = min(last, at + PART)
            # Four rows at a time, because moving the sums to the cache and back is what takes time.
            while at + 4 <= stop:
                a, b = np.uintp(pieces[at]), np.uintp(pieces[at + 1])
                c, d = np.uintp(pieces[at + 2]), np.uintp(pieces[at + 3])
                u, v, w, x = weights[a], weights[b], weights[c], weights[d]
                for k in range(dim):
                    first = sums[k] + u * _number(table[a, k]) + v * _number(table[b, k])
                    sums[k] = first + w * _number(table[c, k]) + x * _number(table[d, k])
                at += 4
            while at < stop:
                a = np.uintp(pieces[at])
                u = weights[a]
                for k in range(dim):
                    sums[k] += u * _number(table[a, k])
                at += 1
            if is_long:
                for k in range(dim):
                    totals[k] += np.float64(sums[k])
                    sums[k] = np.float32(0.0)
        if is_long:
            for k in range(dim):
                sums[k] = np.float32(totals[k] / size)
            count = np.float32(1.0)
        if normalize:
            # The count does not change the direction.
            length = np.float32(np.sqrt(_product(sums, sums)))
            count = length if length > np.float32(0.0) else np.float32(1.0)
        for k in range(dim):
            vectors[i, k] = _entry(sums[k] / count, vectors[i, k])
