"""Prepare sentences as bytes in UTF-8, without a Python string for each of them.

`base.text.prepare_text` defines what preparation is. The kernels here do the same for most text, faster and
without Python's lock, and refuse the rest.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Int64, UInt8, UInt32
from paraphrastic.base.jit import jit_exactly
from paraphrastic.base.text import INVISIBLE, SEPARATORS, folding_table

# A character becomes a number that has the bytes of another one in UTF-8, the first one in the lowest bits.
# Or it becomes nothing, or what only `prepare_text` can tell.
_OMITTED, _REFUSED = np.uint32(0), np.uint32(0xFFFFFFFF)
# Letters from the first of these code points on have no case, and all up to the second one are visible.
_CODES, _INVISIBLE_CODES = 0x20000, 0xE0000
_LINE_FEED = np.uint8(0x0A)
# Numbers of characters that are looked at together in the empty part of a row.
_STEPS = (np.uintp(128), np.uintp(16))


class Utf8(NamedTuple):
    """Sentences in UTF-8.

    Attributes:
        text: all sentences, one after the other, with a byte behind each that belongs to none.
        ends: where each sentence ends in `text`, [n].
    """

    text: UInt8
    ends: Int64


def prepare_utf8(
    sentences: Any,
    *,
    language: str | None = None,
    segmentation: Mapping[str, str] | None = None,
    folding: Mapping[str, str] | None = None,
    lowercase: bool = False,
) -> Utf8 | None:
    """Prepare most sentences as `prepare_text` does.

    Args:
        sentences: a list or tuple of strings, an array of NumPy, or a column of Arrow.
        language: see `prepare_text`, as for the other settings.
        segmentation: see there.
        folding: see there.
        lowercase: see there.

    Returns:
        The prepared sentences, or None if they need `prepare_text`: if one of them is not a string or has a
        NUL, a lone surrogate, or a letter whose lower case is not one letter; or if the language is
        segmented, or letters beyond ASCII may be folded or segmented.
    """
    segmented = [code for code, mode in (segmentation or {}).items() if mode != "none"]
    folded = folding_table(folding or {})
    # Lower-casing does the same with the only letter of ASCII that is ever folded, an I.
    if language in segmented or (min(folded, default=0x80) < 0x80 and not lowercase):
        return None
    table = _what_becomes(lowercase, bool(folded or (segmented and language is None)))
    if isinstance(sentences, np.ndarray):
        width, kind = sentences.dtype.itemsize // 4, sentences.dtype.kind
        # An array of a class of its own may be masked.
        if type(sentences) is not np.ndarray or kind != "U" or not sentences.dtype.isnative or not width:
            return None
        units = _read_only(np.ascontiguousarray(sentences).view(np.uint32)).reshape(-1, width)
        text, ends = np.empty(len(units) * (4 * width + 1), np.uint8), np.empty(len(units), np.int64)
        size = prepare_units(units, table, text, ends)
    else:
        is_list = isinstance(sentences, list | tuple)
        parts = _bytes_of_list(sentences) if is_list else _bytes_of_arrow(sentences)
        if parts is None:
            return None
        source, starts, stops = parts
        # Some letters of two bytes have a lower case of three.
        text = np.empty((stops[-1] - starts[0]) * 3 // 2 + len(stops), np.uint8)
        ends = np.empty(len(stops), np.int64)
        size = prepare_bytes(source, starts, stops, table, text, ends)
    return Utf8(text[:size], ends) if size >= 0 else None


def joined(texts: Sequence[str]) -> Utf8:
    """All texts in UTF-8."""
    whole = "\n".join(texts)
    text = np.frombuffer(whole.encode(), np.uint8)
    ends = np.append(np.flatnonzero(text == _LINE_FEED), len(text))
    if len(ends) != len(texts):
        # A text has line feeds itself, or there is none.
        ends = np.cumsum(np.fromiter((len(str.encode(each)) + 1 for each in texts), np.int64, len(texts))) - 1
    return Utf8(text, ends)


def _bytes_of_list(sentences: Sequence[str]) -> tuple[UInt8, Int64, Int64] | None:
    """Bytes of all sentences, and where each of them begins and ends."""
    try:
        text, ends = joined(sentences)
    except (TypeError, UnicodeEncodeError):
        return None
    return (text, np.append(0, ends[:-1] + 1), ends) if len(ends) else None


def _bytes_of_arrow(column: Any) -> tuple[UInt8, Int64, Int64] | None:
    """The same for a column of Arrow, whose bytes are used where they are."""
    if str(getattr(column, "type", "")) == "string_view":
        column = column.cast("large_string")
    types = {"string": np.int32, "large_string": np.int64}
    offset_type = types.get(str(getattr(column, "type", "")))
    if offset_type is None or column.null_count or not len(column):
        return None
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    _, offsets, content = column.buffers()
    places = np.frombuffer(offsets, offset_type)[column.offset :][: len(column) + 1].astype(np.int64)
    return _read_only(np.frombuffer(content or b"", np.uint8)), places[:-1], places[1:]


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same array for kernels, which are compiled for arrays that can be written to and others apart."""
    array = array.view()
    array.flags.writeable = False
    return array


@jit_exactly
def _packed(code: Any) -> Any:
    """The bytes of a code point that takes four of them, or `_REFUSED`."""
    if code >= _INVISIBLE_CODES:
        return _REFUSED
    first, second = np.uint32(0xF0 | code >> 18), np.uint32(0x80 | code >> 12 & 0x3F)
    third, fourth = np.uint32(0x80 | code >> 6 & 0x3F), np.uint32(0x80 | code & 0x3F)
    return first | second << np.uint32(8) | third << np.uint32(16) | fourth << np.uint32(24)


@functools.cache
def _what_becomes(lowercase: bool, ascii_only: bool) -> UInt32:
    """What preparation makes of each code point below `_CODES`; the last entry is for all others."""
    # Only one letter has a lower case of two, and that of the sigma depends on the letters beside it.
    refused = ["\0", "\u0130", "\u03a3"] if lowercase else ["\0"]
    characters = list(map(chr, range(_CODES)))
    for first, last in SEPARATORS:
        characters[first : last + 1] = " " * (last + 1 - first)
    for character in refused:
        characters[ord(character)] = " "
    text = "".join(characters)
    content = (text.lower() if lowercase else text).encode("utf-8", "surrogatepass")
    units = np.frombuffer(content + bytes(3), np.uint8).astype(np.uint32)
    places = np.flatnonzero(units & 0xC0 != 0x80)[:-3]
    if len(places) != _CODES:
        raise AssertionError("Unicode has another letter whose lower case is not one letter")
    sizes = np.diff(places, append=len(content))
    becomes = np.zeros(_CODES + 1, np.uint32)
    for place in range(4):
        becomes[:-1] |= np.where(place < sizes, units[places + place] << 8 * place, 0).astype(np.uint32)
    for first, last in INVISIBLE:
        becomes[first : last + 1] = _OMITTED
    becomes[list(map(ord, refused))] = becomes[0xD800:0xE000] = _REFUSED
    if ascii_only:
        becomes[0x80:] = _REFUSED
    return becomes


@jit_exactly
def prepare_bytes(
    source: UInt8, starts: Int64, stops: Int64, becomes: UInt32, text: UInt8, ends: Int64
) -> int:
    """Prepare sentences in UTF-8.

    Args:
        source: sentence i is `source[starts[i]:stops[i]]`.
        starts: [n].
        stops: [n].
        becomes: see `_what_becomes`.
        text: output, see `Utf8`.
        ends: output, see `Utf8`.

    Returns:
        How many bytes of `text` are used, or -1 if a sentence is refused.
    """
    to = 0
    for i in range(len(starts)):
        at, stop = starts[i], stops[i]
        while at < stop:
            first = np.uint32(source[at])
            more = 0 if first < 0x80 else 1 if first < 0xE0 else 2 if first < 0xF0 else 3
            # Nothing says that the bytes of a column are right.
            if 0x80 <= first < 0xC2 or first > 0xF4 or at + more >= stop:
                return -1
            code = first & np.uint32(0x7F if more == 0 else 0x3F >> more)
            for k in range(1, more + 1):
                byte = np.uint32(source[at + k])
                if byte & 0xC0 != 0x80:
                    return -1
                code = code << np.uint32(6) | byte & np.uint32(0x3F)
            if (more == 2 and code < 0x800) or (more == 3 and code < 0x10000):
                return -1
            at += more + 1
            shown = becomes[code] if code < _CODES else becomes[_CODES] | _packed(code)
            if shown == _REFUSED:
                return -1
            while shown:
                text[to] = shown & 0xFF
                shown >>= np.uint32(8)
                to += 1
        ends[i] = to
        text[to] = _LINE_FEED
        to += 1
    return to


# What writes a character stands in both kernels, since a call that hands over arrays takes longer than that.


@jit_exactly
def prepare_units(units: UInt32, becomes: UInt32, text: UInt8, ends: Int64) -> int:
    """Prepare sentences in UTF-32 of a fixed width, [n, width], whose ends are filled with zeros.

    The other arguments and the result are those of `prepare_bytes`.
    """
    to = 0
    for i in range(len(units)):
        row = units[i]
        size = np.uintp(len(row))
        # Most of a row is empty, so its end is looked for in larger steps first. Numbers without a sign are
        # what lets the compiler look at many characters at a time.
        for step in _STEPS:
            while size >= step:
                some = np.uint32(0)
                for k in range(step):
                    some |= row[size - step + k]
                if some:
                    break
                size -= step
        while size > 0 and row[size - np.uintp(1)] == 0:
            size -= np.uintp(1)
        for k in range(size):
            code = row[k]
            shown = becomes[code] if code < _CODES else becomes[_CODES] | _packed(code)
            if shown == _REFUSED:
                return -1
            while shown:
                text[to] = shown & 0xFF
                shown >>= np.uint32(8)
                to += 1
        ends[i] = to
        text[to] = _LINE_FEED
        to += 1
    return to
