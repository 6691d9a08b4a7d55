"""Scripts that are written without spaces, in which each character counts as a word."""

import functools
import unicodedata

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraphrastic.base.arrays import Bool, Int32

UInt8 = npt.NDArray[np.uint8]

# Letters of Han, Hiragana, Katakana, Thai, Lao, Khmer, Burmese (Myanmar), Tai Tham, Tai Le, New Tai Lue,
# Tai Viet, Balinese, Javanese, Yi and Tangut, with the signs of repetition and length that they share, as
# first and last. Code points that Unicode has not assigned yet may be within. Digits make words as in other
# scripts, and punctuation separates them.
LETTERS = (
    (0xE01, 0xE30), (0xE32, 0xE33), (0xE40, 0xE46), (0xE81, 0xEB0), (0xEB2, 0xEB3), (0xEBD, 0xEBD),
    (0xEC0, 0xEC6), (0xEDC, 0xEDF), (0x1000, 0x102A), (0x103F, 0x103F), (0x1050, 0x1055), (0x105A, 0x105D),
    (0x1061, 0x1061), (0x1065, 0x1066), (0x106E, 0x1070), (0x1075, 0x1081), (0x108E, 0x108E),
    (0x1780, 0x17B3), (0x17D7, 0x17D7), (0x17DC, 0x17DC), (0x1950, 0x1974), (0x1980, 0x19AB),
    (0x19B0, 0x19C9), (0x1A20, 0x1A54), (0x1AA7, 0x1AA7), (0x1B05, 0x1B33), (0x1B45, 0x1B4C),
    (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303C), (0x3041, 0x3096),
    (0x309D, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
    (0x4E00, 0xA48C), (0xA984, 0xA9B2), (0xA9CF, 0xA9CF), (0xA9E0, 0xA9E4), (0xA9E6, 0xA9EF),
    (0xA9FA, 0xA9FE), (0xAA60, 0xAA76), (0xAA7A, 0xAA7A), (0xAA7E, 0xAAAF), (0xAAB1, 0xAAB1),
    (0xAAB5, 0xAAB6), (0xAAB9, 0xAABD), (0xAAC0, 0xAAC0), (0xAAC2, 0xAAC2), (0xAADB, 0xAADD),
    (0xF900, 0xFAD9), (0xFF66, 0xFF9D), (0x16FE0, 0x16FE0), (0x16FE3, 0x16FE3), (0x16FF2, 0x16FF6),
    (0x17000, 0x18AFF), (0x18D00, 0x18DFF), (0x1AFF0, 0x1AFFE), (0x1B000, 0x1B16F), (0x20000, 0x3FFFD),
)  # fmt: skip
# For the inside of a character class: these letters; the dots between syllables of Tibetan, each of which
# counts as a word, and between words of Ethiopic; and marks, which belong to the character before them, as do
# the marks of half-width kana.
SPACELESS = "".join(f"{chr(first)}-{chr(last)}" for first, last in LETTERS)
DOTS = "\u0f0b\u0f0c\u1361"
MARKS = "".join(c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M")
MARKS += "\uff9e\uff9f"


def has_spaceless(texts: pa.Array) -> bool:
    """Whether a text has a character of these scripts or one of the dots."""
    content, _ = utf8_of(texts)
    # In UTF-8, the characters of these scripts begin with E0 or more, which most alphabets do not need.
    if not len(content) or content.max() < 0xE0:
        return False
    points = content.tobytes().decode().encode("utf-32-le")
    return bool(_table()[np.frombuffer(points, np.uint32)].any())


def utf8_of(texts: pa.Array) -> tuple[UInt8, Int32]:
    """All texts of an array without nulls in UTF-8, uint8 [bytes], and where each one ends, int32 [texts]."""
    _, offsets, content = texts.buffers()
    if content is None:
        return np.zeros(0, np.uint8), np.zeros(len(texts), np.int32)
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(content, np.uint8)[ends[0] : ends[-1]], ends[1:] - ends[0]


@functools.cache
def _table() -> Bool:
    """Which code points `has_spaceless` looks for: bool [0x110000]."""
    looked_for = np.zeros(0x110000, np.bool_)
    for first, last in (*LETTERS, *((ord(dot), ord(dot)) for dot in DOTS)):
        looked_for[first : last + 1] = True
    return looked_for
