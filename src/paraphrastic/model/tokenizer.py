"""Tokenization: cuts text into the pieces that vectors are made of.

If no piece spans a space, the pieces of a sentence are those of its words, and almost every word has been
seen before. A compiled hash table remembers the pieces of words, and only new words go to sentencepiece.
"""

from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.base.arrays import Bool, Int32, Int64, UInt8, UInt64
from paraphrastic.base.jit import jit_exactly
from paraphrastic.model.forks import not_forked
from paraphrastic.model.units import spell
from paraphrastic.model.vocabulary import SPACE

# Normalizations that sentencepiece ships. None of them joins a space with the character next to it.
NORMALIZATIONS = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")
# A table that remembers more words than this is emptied.
MAX_WORDS = 1 << 18
# Words with more bytes than this are not remembered, since they hardly ever recur.
MAX_WORD_BYTES = 64
# Constants of FNV-1a, a hash that costs next to nothing while the end of a word is searched for.
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_SPACE, _LINE_FEED = np.uint8(0x20), np.uint8(0x0A)
# Marks the first word without an entry; the next ones are -2, -3, …
MISSING = -1

# Takes texts; returns their known pieces, how many of them each text has, and whether it has any pieces.
Encode = Callable[[Sequence[str]], tuple[Int32, Int64, Bool]]


class Tokens(NamedTuple):
    """Known pieces of n sentences.

    Attributes:
        ids: int32, the pieces of all sentences, one after the other.
        ends: int64 [n + 1]; those of sentence i are `ids[ends[i]:ends[i + 1]]`.
        has_text: bool [n], whether a sentence has any pieces, known or not.
    """

    ids: Int32
    ends: Int64
    has_text: Bool

    def lists(self) -> list[list[int]]:
        """The pieces of each sentence."""
        return [part.tolist() for part in np.split(self.ids, self.ends[1:-1])] if len(self.has_text) else []


class Tokenizer:
    """Turns prepared text into the ids of the known pieces of a model.

    Args:
        processor: the sentencepiece model.
        known: bool [pieces], false for pieces that do not count.
        unit: one of `units.UNITS`.
    """

    def __init__(self, processor: sentencepiece.SentencePieceProcessor, known: Bool, unit: str) -> None:
        self.processor, self.known, self.unit = processor, known, unit
        # Whether a sentence's pieces are those of its words. A trigram can hold parts of two words.
        self.by_word = unit != "trigram" and is_cut_at_spaces(processor)
        # There are as many tables as threads have ever been at work at once.
        self._tables: SimpleQueue[_WordTable] = SimpleQueue()

    def tokenize(self, texts: Sequence[str]) -> Tokens:
        """Tokenize prepared texts; several threads may call this at once."""
        if not self.by_word:
            ids, counts, has_text = self._encode(texts)
            return Tokens(ids, np.concatenate([[0], np.cumsum(counts)]), has_text)
        try:
            table = self._tables.get_nowait()
        except Empty:
            table = _WordTable()
        tokens = table.tokenize(*_utf8(texts), self._encode)
        # After an error, the table is not put back, because it may be half updated.
        self._tables.put(table)
        return tokens

    def _encode(self, texts: Sequence[str]) -> tuple[Int32, Int64, Bool]:
        """Known pieces of all texts, how many of them each text has, and whether it has any pieces."""
        with not_forked():
            ids = self.processor.encode(spell(texts, self.unit), out_type=int, num_threads=1)
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        pieces = np.fromiter((piece for text in ids for piece in text), np.int32, lengths.sum())
        kept = self.known[pieces]
        counts = np.bincount(np.repeat(np.arange(len(ids)), lengths)[kept], minlength=len(ids))
        return pieces[kept], counts, lengths > 0


class _WordTable:
    """Words and their pieces, in the form that `find_words` needs; for one thread at a time."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._size = 0
        self._slots = np.full(1 << 12, -1, np.int32)
        # These arrays have spare room; `_size` and the last ends say how much of it is used.
        self._hashes, self._has_pieces = np.empty(0, np.uint64), np.empty(0, np.bool_)
        self._keys, self._key_ends = np.empty(0, np.uint8), np.zeros(1, np.int64)
        self._pieces, self._piece_ends = np.empty(0, np.int32), np.zeros(1, np.int64)

    def tokenize(self, text: UInt8, ends: Int64, encode: Encode) -> Tokens:
        """Tokenize sentences in UTF-8; see `find_words` for `text` and `ends`."""
        if self._size > MAX_WORDS:
            self._clear()
        most = len(text) // 2 + 1
        words, word_ends = np.empty(most, np.int32), np.empty(len(ends), np.int64)
        missing, hashes = np.empty((most, 2), np.int64), np.empty(most, np.uint64)
        absent = find_words(
            text, ends, self._slots, self._hashes, self._key_ends, self._keys,
            words, word_ends, missing, hashes,
        )  # fmt: skip
        entries = self._add(text, missing[:absent], hashes[:absent], encode)
        piece_ends, has_text = np.empty(len(ends) + 1, np.int64), np.empty(len(ends), np.bool_)
        pieces = np.empty(0, np.int32)
        for _ in ("count", "copy"):
            total = gather_pieces(
                words, word_ends, entries, self._piece_ends, self._pieces, self._has_pieces,
                pieces, piece_ends, has_text,
            )  # fmt: skip
            pieces = pieces if len(pieces) else np.empty(total, np.int32)
        return Tokens(pieces, piece_ends, has_text)

    def _add(self, text: UInt8, spans: Int64, hashes: UInt64, encode: Encode) -> Int32:
        """Add entries for missing words; long words come last, and the next call overwrites them."""
        entries = np.empty(len(spans), np.int32)
        if not len(spans):
            return entries
        new: dict[bytes, int] = {}
        firsts: list[int] = []
        for index in np.argsort(spans[:, 1] - spans[:, 0] > MAX_WORD_BYTES, kind="stable"):
            start, end = spans[index]
            entry = new.setdefault(text[start:end].tobytes(), len(new))
            if entry == len(firsts):
                firsts.append(index)
            entries[index] = self._size + entry
        pieces, counts, has_pieces = encode([word.decode("utf-8") for word in new])
        lengths = np.fromiter(map(len, new), np.int64, len(new))
        size, keys, known = self._size, self._key_ends[self._size], self._piece_ends[self._size]
        self._hashes = _extended(self._hashes, size, hashes[firsts])
        self._has_pieces = _extended(self._has_pieces, size, has_pieces)
        self._keys = _extended(self._keys, keys, np.frombuffer(b"".join(new), np.uint8))
        self._key_ends = _extended(self._key_ends, size + 1, keys + np.cumsum(lengths))
        self._pieces = _extended(self._pieces, known, pieces)
        self._piece_ends = _extended(self._piece_ends, size + 1, known + np.cumsum(counts))
        self._size = size + int((lengths <= MAX_WORD_BYTES).sum())
        if 2 * self._size > len(self._slots):
            size, self._slots = 0, np.full(4 << self._size.bit_length(), -1, np.int32)
        insert(self._slots, self._hashes, size, self._size)
        return entries


def _extended(array: npt.NDArray[Any], size: int, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Write `values` after the first `size` entries of an array, or of a larger copy if it is too small."""
    end = size + len(values)
    if end > len(array):
        room = np.empty(max(end, 2 * len(array)), array.dtype)
        room[:size] = array[:size]
        array = room
    array[size:end] = values
    return array


def is_cut_at_spaces(processor: sentencepiece.SentencePieceProcessor) -> bool:
    """Whether a text is cut into the pieces of its words, one word after the other.

    That is so if every word begins with the sign for a space, wherever it is, and no piece has that sign in
    another place. If a word can be cut in two ways with the same score, such as aaa into aa a or a aa, then
    rounding decides, and it depends on the words before. The sum of the pieces is the same in both cases.
    """
    pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
    content = processor.serialized_model_proto()
    return (
        # There is one sign before each word, whatever the number of spaces, and none after a word.
        processor.normalize(" a  b ") == f"{SPACE}a{SPACE}b"
        # The model names a normalization that sentencepiece ships. A user's own map can join any characters,
        # and no sample of text can rule that out; sentencepiece names it `user_defined`. After the name comes
        # the map, a field that is present even if it is empty.
        and any(b"\n%c%s\x12" % (len(name), name.encode()) in content for name in NORMALIZATIONS)
        # User-defined symbols may contain the sign or a space.
        and not any(SPACE in piece[1:] or " " in piece for piece in pieces)
    )


def _utf8(texts: Sequence[str]) -> tuple[UInt8, Int64]:
    """All texts in UTF-8 with a byte behind each that belongs to none, and where each of them ends, [n]."""
    text = np.frombuffer("\n".join(texts).encode(), np.uint8)
    # Preparation leaves no line feed in a text.
    return text, np.append(np.flatnonzero(text == _LINE_FEED), len(text)) if texts else np.empty(0, np.int64)


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
            slot = (code ^ (code >> np.uint64(32))) & mask
            entry = slots[slot]
            while entry >= 0:
                if hashes[entry] == code and key_ends[entry + 1] - key_ends[entry] == at - first:
                    shift = key_ends[entry] - first
                    same = True
                    for j in range(first, at):
                        same &= text[j] == keys[j + shift]
                    if same:
                        break
                slot = (slot + np.uint64(1)) & mask
                entry = slots[slot]
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
        slot = (code ^ (code >> np.uint64(32))) & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = entry


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
