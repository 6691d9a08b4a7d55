"""Training data as flat token arrays in HDF5.

    /pieces                 int32 [rows - 1]   sentencepiece id of each row, in order of first appearance
    /source/tokens          int32 [n_tokens]   rows of the embedding table, sentence after sentence
    /source/offsets         int64 [n + 1]      sentence i is tokens[offsets[i]:offsets[i + 1]]
    /target/…               the same for the other side

The last row, `len(pieces)`, stands for a sentence without any known piece (the original's `UUUNKKK`).
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import h5py
import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.corpus.blocks import read_blocks
from paraphrastic.errors import InputError
from paraphrastic.files import atomic_output, sha256
from paraphrastic.units import spell
from paraphrastic.vocabulary import load_sentencepiece

TOKENS_PER_CHUNK = 1 << 16
PAIRS_PER_BLOCK = 8192
# Kept free on the disk for what HDF5 writes late: its own structures, and chunks that it still holds.
RESERVE_BYTES = 16 << 20
SIDES = ("source", "target")

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences as flat tokens: sentence i is `tokens[offsets[i]:offsets[i + 1]]`."""

    tokens: Int32
    offsets: Int64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Int64:
        """Number of tokens of each sentence, [n]."""
        return np.diff(self.offsets)

    def take(self, rows: npt.NDArray[np.integer]) -> "Sentences":
        """The sentences `rows`, in that order."""
        lengths = self.lengths[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        shift = np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths)
        return Sentences(self.tokens[shift + np.arange(offsets[-1])], offsets)

    def part(self, start: int, stop: int) -> "Sentences":
        """The sentences from `start` up to `stop`."""
        offsets = self.offsets[start : stop + 1]
        return Sentences(self.tokens[offsets[0] : offsets[-1]], offsets - offsets[0])

    @staticmethod
    def concatenate(parts: "list[Sentences]") -> "Sentences":
        """All sentences of `parts`, one part after the other."""
        lengths = np.concatenate([part.lengths for part in parts])
        tokens = np.concatenate([part.tokens for part in parts])
        return Sentences(tokens, np.concatenate(([0], np.cumsum(lengths))))

    def fingerprints(self) -> npt.NDArray[np.uint64]:
        """One 64-bit number a sentence, equal for equal sentences and (all but surely) for no others, [n]."""
        position = np.arange(1, len(self.tokens) + 1) - np.repeat(self.offsets[:-1], self.lengths)
        mixed = _mix((self.tokens.astype(np.uint64) << np.uint64(32)) | position.astype(np.uint64))
        sums = np.add.reduceat(np.append(mixed, np.uint64(0)), self.offsets[:-1])
        return _mix(np.where(self.lengths > 0, sums, np.uint64(0)))


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of splitmix64: every input bit changes every output bit with chance one half."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def encode_dataset(
    pairs: Path,
    sentencepiece_model: Path,
    output: Path,
    *,
    unit: str = "subword",
    max_pieces: int | None,
    threads: int,
    batch_rows: int = 65_536,
) -> None:
    """Segment `pairs` into pieces and write them as training data; `unit` is that of the vocabulary.

    Rows of the table are given to pieces in the order of their first appearance (source before target).
    Characters outside of the vocabulary are left out; a sentence of nothing else is the single token
    `len(pieces)`. With `max_pieces`, longer sentences are cut there.
    """
    processor = load_sentencepiece(sentencepiece_model)
    row_of_piece = np.full(processor.get_piece_size(), -1, dtype=np.int32)
    n_rows = 0
    with atomic_output(output) as temporary, h5py.File(temporary, "w") as file:
        for side in SIDES:
            _create_side(file, side)
        for batch in read_blocks(pairs, rows=batch_rows, columns=list(SIDES)):
            pieces = [
                _encode(processor, spell(column.to_pylist(), unit), max_pieces=max_pieces, threads=threads)
                for column in batch.columns
            ]
            n_rows = _number_by_appearance(row_of_piece, n_rows, _interleave(pieces))
            for side, sentences in zip(SIDES, pieces, strict=True):
                # A token of -1 is a piece-less sentence, whose row is known only at the end.
                rows = np.where(sentences.tokens < 0, -1, row_of_piece[sentences.tokens])
                _append(file[side], Sentences(rows.astype(np.int32), sentences.offsets))
        if n_rows == 0:
            raise InputError(f"{pairs}: no sentence has a piece of {sentencepiece_model}")
        for side in SIDES:
            _replace_negative(file[side]["tokens"], n_rows)
        known = np.flatnonzero(row_of_piece >= 0)
        file["pieces"] = known[np.argsort(row_of_piece[known])].astype(np.int32)
        file.attrs["sentencepiece_sha256"] = sha256(sentencepiece_model)


def _encode(
    processor: sentencepiece.SentencePieceProcessor,
    sentences: list[str],
    *,
    max_pieces: int | None,
    threads: int,
) -> Sentences:
    unknown = processor.unk_id()
    ids = processor.encode(sentences, out_type=int, num_threads=threads)
    kept = [[piece for piece in sentence[:max_pieces] if piece != unknown] or [-1] for sentence in ids]
    lengths = np.fromiter(map(len, kept), dtype=np.int64, count=len(kept))
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    tokens = np.fromiter((piece for sentence in kept for piece in sentence), np.int32, count=offsets[-1])
    return Sentences(tokens, offsets)


def _interleave(sides: list[Sentences]) -> Int32:
    """Tokens of both sides in reading order: source and target of the first pair, then of the second, …"""
    n = len(sides[0])
    both = Sentences.concatenate(sides)
    return both.take(np.stack([np.arange(n), np.arange(n) + n], axis=1).ravel()).tokens


def _number_by_appearance(row_of_piece: Int32, n_rows: int, tokens: Int32) -> int:
    """Give the next rows to pieces met for the first time; the number of rows after that."""
    pieces, first = np.unique(tokens, return_index=True)
    pieces = pieces[np.argsort(first)]
    new = pieces[(pieces >= 0) & (row_of_piece[pieces] < 0)]
    row_of_piece[new] = n_rows + np.arange(len(new))
    return n_rows + len(new)


def _create_side(file: h5py.File, side: str) -> None:
    group = file.create_group(side)
    group.create_dataset("tokens", (0,), np.int32, maxshape=(None,), chunks=(TOKENS_PER_CHUNK,))
    group.create_dataset("offsets", (1,), np.int64, maxshape=(None,), chunks=(PAIRS_PER_BLOCK,))


def _append(group: h5py.Group, sentences: Sentences) -> None:
    # HDF5 does not survive a full disk: it ends the process when it closes the file.
    size = sentences.tokens.nbytes + sentences.offsets.nbytes
    folder = Path(group.file.filename).parent
    if shutil.disk_usage(folder).free < size + RESERVE_BYTES:
        reserve = RESERVE_BYTES >> 20
        raise InputError(f"{folder}: cannot be written: less than {reserve} MB would be left on the disk")
    tokens, offsets = group["tokens"], group["offsets"]
    n_tokens, n_offsets = len(tokens), len(offsets)
    tokens.resize((n_tokens + len(sentences.tokens),))
    tokens[n_tokens:] = sentences.tokens
    offsets.resize((n_offsets + len(sentences),))
    offsets[n_offsets:] = sentences.offsets[1:] + n_tokens


def _replace_negative(tokens: h5py.Dataset, row: int) -> None:
    for start in range(0, len(tokens), TOKENS_PER_CHUNK):
        block = tokens[start : start + TOKENS_PER_CHUNK]
        if (block < 0).any():
            tokens[start : start + TOKENS_PER_CHUNK] = np.where(block < 0, row, block)


class PairDataset:
    """Training pairs on disk, read in blocks.

    Attributes:
        pieces: int32 [rows - 1], the sentencepiece id of each row of the table but the last.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = h5py.File(path, "r")
            self.pieces: Int32 = self._file["pieces"][:]
            self._offsets = [self._file[side]["offsets"] for side in SIDES]
            self._tokens = [self._file[side]["tokens"] for side in SIDES]
            self.sentencepiece_sha256 = str(self._file.attrs["sentencepiece_sha256"])
        except (OSError, KeyError) as error:
            raise InputError(f"{path}: not a training data set: {error}") from None
        self._n_pairs = len(self._offsets[0]) - 1

    def __len__(self) -> int:
        return self._n_pairs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def n_rows(self) -> int:
        """Rows of the embedding table: one a piece, and one for sentences without any."""
        return len(self.pieces) + 1

    def read(self, start: int, stop: int) -> tuple[Sentences, Sentences]:
        """Pairs `start` to `stop`, as (source, target)."""
        source, target = (self._read_side(side, start, stop) for side in range(2))
        return source, target

    def _read_side(self, side: int, start: int, stop: int) -> Sentences:
        offsets = self._offsets[side][start : stop + 1]
        return Sentences(self._tokens[side][offsets[0] : offsets[-1]], offsets - offsets[0])

    def counts(self) -> Int64:
        """How often each row of the table occurs, [rows]."""
        counts = np.zeros(self.n_rows, np.int64)
        for tokens in self._tokens:
            for start in range(0, len(tokens), 1 << 20):
                counts += np.bincount(tokens[start : start + (1 << 20)], minlength=self.n_rows)
        return counts

    def shuffled(
        self, generator: np.random.Generator, *, window: int, skip: int = 0
    ) -> Iterator[tuple[Sentences, Sentences]]:
        """All pairs but the first `skip` once in random order, some thousands at a time.

        Blocks of neighbouring pairs are drawn in random order, and the pairs of a window of blocks, about
        `window`, are shuffled together. A window that holds the whole corpus gives a uniformly random order;
        a smaller one bounds memory, and comes close, since the corpus on disk is shuffled already. Windows
        of which all pairs are skipped are not read.
        """
        blocks = generator.permutation(-(-len(self) // PAIRS_PER_BLOCK))
        per_window = max(1, window // PAIRS_PER_BLOCK)
        for first in range(0, len(blocks), per_window):
            starts = np.sort(blocks[first : first + per_window]) * PAIRS_PER_BLOCK
            stops = np.minimum(starts + PAIRS_PER_BLOCK, len(self))
            # Drawn even if it is skipped, so that the next windows' orders are what they were.
            order = generator.permutation(int((stops - starts).sum()))
            if skip < len(order):
                yield from self._ordered(starts, stops, order[skip:])
            skip = max(0, skip - len(order))

    def _ordered(self, starts: Int64, stops: Int64, order: Int64) -> Iterator[tuple[Sentences, Sentences]]:
        """The pairs between `starts` and `stops`, by their numbers in these blocks."""
        parts = [self.read(start, stop) for start, stop in zip(starts, stops, strict=True)]
        source, target = (Sentences.concatenate(list(side)) for side in zip(*parts, strict=True))
        del parts
        for first in range(0, len(order), PAIRS_PER_BLOCK):
            some = order[first : first + PAIRS_PER_BLOCK]
            yield source.take(some), target.take(some)
