"""Training data as flat token arrays in HDF5.

    /subword/pieces           int32 [rows - 1]   piece of each row of the table, in order of first appearance
    /subword/source/tokens    int32 [n_tokens]   rows of the table, sentence after sentence
    /subword/source/offsets   int64 [n + 1]      sentence i is tokens[offsets[i]:offsets[i + 1]]
    /subword/target/…         the same for the other side
    /word/…, /trigram/…       the same sentences, cut into other units

A unit is there if the model has it. The last row, `len(pieces)`, stands for a sentence without any known
piece (the original's `UUUNKKK`). Where the two languages have tables of their own, these are one array too: a
piece of the target's has the number of the source's pieces added to its id, and the last two rows are the
two languages' unknown ones. Where two vocabularies overlap, a piece that is spelled alike in both has the
source's id on either side, and

    /subword/alike           int32 [k, 2]       the source's and the target's id of each such piece
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

import h5py
import numpy as np
import numpy.typing as npt

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, sha256
from paraphrastic.base.units import spell
from paraphrastic.corpus.blocks import read_blocks
from paraphrastic.training.vocabulary import load_sentencepiece, spelled_alike

TOKENS_PER_CHUNK = 1 << 16
PAIRS_PER_BLOCK = 8192
TOKENS_PER_READ = 1 << 20
# Kept free on the disk for what HDF5 writes late: its own structures, and chunks that it still holds.
RESERVE_BYTES = 16 << 20
SIDES = ("source", "target")

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
# Said here too: another name of an encoder must not encode data sets again.
Tables = Literal["shared", "separate", "overlapping"]


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences as flat tokens: sentence i is `tokens[offsets[i]:offsets[i + 1]]`.

    `others` are the same sentences, cut into other units.
    """

    tokens: Int32
    offsets: Int64
    others: "tuple[Sentences, ...]" = ()

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
        others = tuple(each.take(rows) for each in self.others)
        return Sentences(self.tokens[shift + np.arange(offsets[-1])], offsets, others)

    def part(self, start: int, stop: int) -> "Sentences":
        """The sentences from `start` up to `stop`."""
        offsets = self.offsets[start : stop + 1]
        others = tuple(each.part(start, stop) for each in self.others)
        return Sentences(self.tokens[offsets[0] : offsets[-1]], offsets - offsets[0], others)

    @staticmethod
    def concatenate(parts: "list[Sentences]") -> "Sentences":
        """All sentences of `parts`, one part after the other."""
        lengths = np.concatenate([part.lengths for part in parts])
        tokens = np.concatenate([part.tokens for part in parts])
        others = zip(*(part.others for part in parts), strict=True)
        return Sentences(
            tokens,
            np.concatenate(([0], np.cumsum(lengths))),
            tuple(Sentences.concatenate(list(each)) for each in others),
        )

    def fingerprints(self) -> Int64:
        """One number a sentence, equal for equal sentences and (all but surely) for no others, [n]."""
        # By numpy, which is faster on a processor than `negative_mining.sentence_fingerprints`.
        position = np.arange(1, len(self.tokens) + 1) - np.repeat(self.offsets[:-1], self.lengths)
        mixed = _mix((self.tokens.astype(np.uint64) << np.uint64(32)) | position.astype(np.uint64))
        sums = np.add.reduceat(np.append(mixed, np.uint64(0)), self.offsets[:-1])
        sums = np.where(self.lengths > 0, sums, np.uint64(0))
        for each in self.others:
            sums = _mix(sums) + each.fingerprints().view(np.uint64)
        return _mix(sums).view(np.int64)


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of splitmix64, which lets every input bit change every output bit with chance ½."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@dataclass(frozen=True, slots=True)
class UnitVocabulary:
    """How sentences are cut into one unit.

    Attributes:
        unit: one of `units.UNITS`.
        models: sentencepiece models; one for both sides, or one each.
        max_pieces: longer sentences are cut there.
    """

    unit: str
    models: tuple[Path, ...]
    max_pieces: int | None


def encode_dataset(
    pairs: Path,
    units: Sequence[UnitVocabulary],
    output: Path,
    *,
    tables: Tables = "shared",
    threads: int,
    batch_rows: int = 65_536,
) -> None:
    """Segment `pairs` into pieces of every unit and write them as training data.

    Rows of a table are given to pieces in the order of their first appearance (source before target).
    Characters outside of the vocabulary are left out; a sentence of nothing else is the single token
    `len(pieces)`.

    Args:
        pairs: Parquet with the columns `source` and `target`.
        units: the vocabularies, in the order in which an encoder takes them.
        output: the HDF5 file.
        tables: whether the sides have tables of their own, even if they share a vocabulary.
        threads: for sentencepiece.
        batch_rows: pairs held in memory; the output does not depend on it.
    """
    with atomic_output(output) as temporary, h5py.File(temporary, "w", track_order=True) as file:
        encoders = [_UnitTokenizer(each, file.create_group(each.unit), tables, threads) for each in units]
        for batch in read_blocks(pairs, rows=batch_rows, columns=list(SIDES)):
            columns = [column.to_pylist() for column in batch.columns]
            for encoder in encoders:
                encoder.append(columns)
        for encoder in encoders:
            encoder.finish(pairs)


class _UnitTokenizer:
    """Writes the sentences of one unit."""

    def __init__(self, vocabulary: UnitVocabulary, group: h5py.Group, tables: Tables, threads: int) -> None:
        self.vocabulary = vocabulary
        self.group = group
        self.threads = threads
        processors = [load_sentencepiece(model) for model in vocabulary.models]
        self.processors = [processors[0], processors[-1]]
        sizes = [processor.get_piece_size() for processor in self.processors]
        separate = tables != "shared" or len(processors) > 1
        self.sizes = sizes if separate else sizes[:1]
        # What the pieces of each side are in the data.
        self.ids = [np.arange(size, dtype=np.int32) for size in sizes]
        if separate:
            self.ids[1] += sizes[0]
        self.alike = (
            spelled_alike(*self.processors) if tables == "overlapping" else np.empty((0, 2), np.int32)
        )
        self.ids[1][self.alike[:, 1]] = self.alike[:, 0]
        self.row_of_piece = np.full(sum(self.sizes), -1, dtype=np.int32)
        self.n_rows = 0
        for side in SIDES:
            create_side(group, side)

    def append(self, columns: Sequence[list[str]]) -> None:
        pieces = [
            self._encode(side, spell(column, self.vocabulary.unit)) for side, column in enumerate(columns)
        ]
        self.n_rows = _number_by_appearance(self.row_of_piece, self.n_rows, _interleave(pieces))
        for side, sentences in zip(SIDES, pieces, strict=True):
            # A token of -1 is a piece-less sentence, whose row is known only at the end.
            rows = np.where(sentences.tokens < 0, -1, self.row_of_piece[sentences.tokens])
            append_sentences(self.group[side], Sentences(rows.astype(np.int32), sentences.offsets))

    def finish(self, pairs: Path) -> None:
        if self.n_rows == 0:
            models = " or ".join(map(str, self.vocabulary.models))
            raise InputError(f"{pairs}: no sentence has a piece of {models}")
        for number, side in enumerate(SIDES):
            _replace_negative(self.group[side]["tokens"], self.n_rows + number * (len(self.sizes) - 1))
        known = np.flatnonzero(self.row_of_piece >= 0)
        pieces = known[np.argsort(self.row_of_piece[known])].astype(np.int32)
        write_pieces(self.group, pieces, self.sizes, self.alike, self.vocabulary.models)

    def _encode(self, side: int, sentences: list[str]) -> Sentences:
        processor, longest = self.processors[side], self.vocabulary.max_pieces
        unknown = processor.unk_id()
        ids = processor.encode(sentences, out_type=int, num_threads=self.threads)
        kept = [[piece for piece in sentence[:longest] if piece != unknown] or [-1] for sentence in ids]
        lengths = np.fromiter(map(len, kept), dtype=np.int64, count=len(kept))
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        tokens = np.fromiter((piece for sentence in kept for piece in sentence), np.int32, count=offsets[-1])
        return Sentences(np.where(tokens < 0, -1, self.ids[side][tokens]), offsets)


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


def write_pieces(
    unit: h5py.Group, pieces: Int32, sizes: Sequence[int], alike: Int32, models: Sequence[Path]
) -> None:
    """Say which pieces the rows of a unit's table are; see `UnitTable`."""
    unit["pieces"], unit["alike"] = pieces, alike
    unit.attrs["sizes"] = sizes
    unit.attrs["sentencepiece_sha256"] = [sha256(model) for model in models]


def create_side(unit: h5py.Group, side: str) -> None:
    """Make room for the sentences of a side."""
    group = unit.create_group(side)
    group.create_dataset("tokens", (0,), np.int32, maxshape=(None,), chunks=(TOKENS_PER_CHUNK,))
    group.create_dataset("offsets", (1,), np.int64, maxshape=(None,), chunks=(PAIRS_PER_BLOCK,))


def append_sentences(group: h5py.Group, sentences: Sentences) -> None:
    """Write more sentences of a side."""
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


@dataclass(frozen=True, slots=True)
class UnitTable:
    """Which piece each row of a unit's embedding table is for.

    Attributes:
        unit: one of `units.UNITS`.
        pieces: int32 [rows less the unknown ones]; see the module.
        sizes: pieces of the vocabulary; of the source's and the target's, where they have tables of their
            own.
        sentencepiece_sha256: of the vocabulary, or of the two.
        alike: int32 [k, 2], the two vocabularies' ids of pieces that have one row for both languages.
    """

    unit: str
    pieces: Int32
    sizes: tuple[int, ...]
    sentencepiece_sha256: tuple[str, ...]
    alike: Int32 = field(default_factory=lambda: np.empty((0, 2), np.int32))

    @property
    def n_rows(self) -> int:
        """Rows of the table: one a piece, and for each table one for sentences without any."""
        return len(self.pieces) + len(self.sizes)

    @property
    def second(self) -> npt.NDArray[np.bool_]:
        """Which rows are the second language's, [n_rows]; none where the languages share them."""
        unknown = np.arange(len(self.sizes)) > 0
        return np.concatenate([self.pieces >= self.sizes[0], unknown])


class PairDataset:
    """Training pairs on disk, read in blocks.

    Attributes:
        units: the tables that tokens are rows of, in the order of `Sentences` and its `others`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = h5py.File(path, "r", track_order=True)
            groups = list(self._file.values())
            self.units = tuple(_table(group) for group in groups)
            self._groups = [[group[side] for side in SIDES] for group in groups]
            self._n_pairs = len(groups[0][SIDES[0]]["offsets"]) - 1
        except (OSError, KeyError, IndexError) as error:
            raise InputError(f"{path}: not a training data set: {error}") from None

    def __len__(self) -> int:
        return self._n_pairs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, start: int, stop: int) -> tuple[Sentences, Sentences]:
        """Pairs `start` to `stop`, as (source, target)."""
        source, target = zip(
            *([_read(group, start, stop) for group in sides] for sides in self._groups), strict=True
        )
        return _joined(source), _joined(target)

    def counts(self, *sides: str) -> list[Int64]:
        """How often each row of each unit's table occurs, on both sides unless some are named."""
        every = [np.zeros(unit.n_rows, np.int64) for unit in self.units]
        for counts, groups in zip(every, self._groups, strict=True):
            for group in (groups[SIDES.index(side)] for side in sides or SIDES):
                for start in range(0, len(group["tokens"]), TOKENS_PER_READ):
                    tokens = group["tokens"][start : start + TOKENS_PER_READ]
                    counts += np.bincount(tokens, minlength=len(counts))
        return every

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


def _table(group: h5py.Group) -> UnitTable:
    unit = str(group.name).removeprefix("/")
    sizes = tuple(int(size) for size in group.attrs["sizes"])
    digests = tuple(map(str, group.attrs["sentencepiece_sha256"]))
    return UnitTable(unit, group["pieces"][:], sizes, digests, group["alike"][:])


def _read(group: h5py.Group, start: int, stop: int) -> Sentences:
    offsets = group["offsets"][start : stop + 1]
    return Sentences(group["tokens"][offsets[0] : offsets[-1]], offsets - offsets[0])


def _joined(units: Sequence[Sentences]) -> Sentences:
    """The same sentences in several units as one."""
    return Sentences(units[0].tokens, units[0].offsets, tuple(units[1:]))
