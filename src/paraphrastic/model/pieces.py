"""Cut text into the pieces that vectors are made of.

If no piece spans a space, the pieces of a sentence are those of its words, and almost every word has been
seen before. A compiled hash table remembers the pieces of words, and only new words go to sentencepiece.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.base.arrays import Bool, Int32, Int64, UInt8, UInt64
from paraphrastic.base.units import spell
from paraphrastic.model import kernels
from paraphrastic.model.sentencepiece_models import SPACE
from paraphrastic.model.utf8 import Utf8, joined

# Normalizations that sentencepiece ships. None of them joins a space with the character next to it.
NORMALIZATIONS = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")
# A table that remembers more words than this is emptied.
MAX_WORDS = 1 << 18
# Words with more bytes than this are not remembered, since they hardly ever recur.
MAX_WORD_BYTES = 64

# Takes texts; returns their known pieces, how many of them each text has, and whether it has any pieces.
Encode = Callable[[Sequence[str]], tuple[Int32, Int64, Bool]]


class Pieces(NamedTuple):
    """Known pieces of n sentences.

    Attributes:
        pieces: int32, the pieces of all sentences, one after the other.
        ends: int64 [n + 1]; those of sentence i are `pieces[ends[i]:ends[i + 1]]`.
        has_text: bool [n], whether a sentence has any pieces, known or not.
    """

    pieces: Int32
    ends: Int64
    has_text: Bool

    def lists(self) -> list[list[int]]:
        """The pieces of each sentence."""
        return (
            [part.tolist() for part in np.split(self.pieces, self.ends[1:-1])] if len(self.has_text) else []
        )


class Cutter:
    """Cuts prepared text into the known pieces of a model.

    Args:
        processor: the sentencepiece model.
        known: bool [pieces], false for pieces that do not count.
        unit: one of `units.UNITS`.
    """

    def __init__(self, processor: sentencepiece.SentencePieceProcessor, known: Bool, unit: str) -> None:
        self.processor, self.known, self.unit = processor, known, unit
        # There are as many tables as threads have ever been at work at once.
        self._tables: SimpleQueue[_WordTable] = SimpleQueue()

    @cached_property
    def by_word(self) -> bool:
        """Whether a sentence's pieces are those of its words."""
        # A trigram can hold the end of one word and the beginning of the next.
        return self.unit != "trigram" and is_cut_at_spaces(self.processor)

    def cut(self, texts: Sequence[str]) -> Pieces:
        """Cut prepared texts; several threads may call this at once."""
        if self.by_word:
            return self.cut_words(joined(texts))
        pieces, counts, has_text = self._encode(texts)
        return Pieces(pieces, np.concatenate([[0], np.cumsum(counts)]), has_text)

    def cut_words(self, text: Utf8) -> Pieces:
        """Cut prepared texts in UTF-8, if pieces are those of words."""
        try:
            table = self._tables.get_nowait()
        except Empty:
            table = _WordTable()
        cut = table.cut(*text, self._encode)
        # After an error, the table is not put back, because it may be half updated.
        self._tables.put(table)
        return cut

    def _encode(self, texts: Sequence[str]) -> tuple[Int32, Int64, Bool]:
        """Known pieces of all texts, how many of them each text has, and whether it has any pieces."""
        ids = self.processor.encode(spell(texts, self.unit), out_type=int, num_threads=1)
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        pieces = np.fromiter((piece for text in ids for piece in text), np.int32, lengths.sum())
        kept = self.known[pieces]
        counts = np.bincount(np.repeat(np.arange(len(ids)), lengths)[kept], minlength=len(ids))
        return pieces[kept], counts, lengths > 0


class _WordTable:
    """Words and their pieces, in the form that `kernels.find_words` needs; for one thread at a time."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._size = 0
        self._slots = np.full(1 << 12, -1, np.int32)
        # These arrays have spare room; `_size` and the last ends say how much of it is used.
        self._hashes, self._has_pieces = np.empty(0, np.uint64), np.empty(0, np.bool_)
        self._keys, self._key_ends = np.empty(0, np.uint8), np.zeros(1, np.int64)
        self._pieces, self._piece_ends = np.empty(0, np.int32), np.zeros(1, np.int64)

    def cut(self, text: UInt8, ends: Int64, encode: Encode) -> Pieces:
        """Cut sentences in UTF-8; see `kernels.find_words` for `text` and `ends`."""
        if self._size > MAX_WORDS:
            self._clear()
        most = len(text) // 2 + 1
        words, word_ends = np.empty(most, np.int32), np.empty(len(ends), np.int64)
        missing, hashes = np.empty((most, 2), np.int64), np.empty(most, np.uint64)
        absent = kernels.find_words(
            text, ends, self._slots, self._hashes, self._key_ends, self._keys,
            words, word_ends, missing, hashes,
        )  # fmt: skip
        entries = self._add(text, missing[:absent], hashes[:absent], encode)
        piece_ends, has_text = np.empty(len(ends) + 1, np.int64), np.empty(len(ends), np.bool_)
        pieces = np.empty(0, np.int32)
        for _ in ("count", "copy"):
            total = kernels.gather_pieces(
                words, word_ends, entries, self._piece_ends, self._pieces, self._has_pieces,
                pieces, piece_ends, has_text,
            )  # fmt: skip
            pieces = pieces if len(pieces) else np.empty(total, np.int32)
        return Pieces(pieces, piece_ends, has_text)

    def _add(self, text: UInt8, places: Int64, hashes: UInt64, encode: Encode) -> Int32:
        """Add entries for missing words; long words come last, and the next call overwrites them."""
        entries = np.empty(len(places), np.int32)
        if not len(places):
            return entries
        new: dict[bytes, int] = {}
        firsts: list[int] = []
        for index in np.argsort(places[:, 1] - places[:, 0] > MAX_WORD_BYTES, kind="stable"):
            start, end = places[index]
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
        kernels.insert(self._slots, self._hashes, size, self._size)
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
