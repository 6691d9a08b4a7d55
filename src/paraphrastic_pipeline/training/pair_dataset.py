"""Read training data as `training.dataset` writes them."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import h5py
import numpy as np
from sentencepiece import SentencePieceProcessor

from paraphrastic.base.arrays import Bool, Int32, Int64
from paraphrastic.model.vocabulary import load_sentencepiece
from paraphrastic_pipeline.training.dataset import GROUPS, MONOLINGUAL, PAIRS_PER_BLOCK, SIDES
from paraphrastic_pipeline.training.sentences import Sentences

TOKENS_PER_READ = 1 << 20
# sentencepiece puts this before a word.
WORD_START = "▁"


@dataclass(frozen=True)
class UnitTable:
    """Which piece each row of a unit's embedding table belongs to.

    Attributes:
        unit: one of `units.UNITS`, or `tokens` for those of a Transformer.
        pieces: int32 [rows without the unknown ones], the piece of each row; see `training.dataset`.
        sizes: number of pieces in the vocabulary, or in the source's and the target's if the languages have
            separate tables.
        shared_unknown: whether all unknown pieces share the last row, which otherwise only sentences without
            any known piece have.
    """

    unit: str
    pieces: Int32
    sizes: tuple[int, ...]
    shared_unknown: bool = False

    @property
    def n_rows(self) -> int:
        """Number of rows: one per piece, and one per table for sentences without any known piece."""
        return len(self.pieces) + len(self.sizes)

    @cached_property
    def row_of(self) -> Int32:
        """The row of each piece, and of what stands for unknown ones; -1 for a piece without a row."""
        rows = np.full(sum(self.sizes) + len(self.sizes), -1, np.int32)
        rows[self.pieces] = np.arange(len(self.pieces))
        rows[sum(self.sizes) :] = len(self.pieces) + np.arange(len(self.sizes))
        return rows

    @property
    def second(self) -> Bool:
        """Which rows belong to the second language, [n_rows]; none if the languages share one table."""
        unknown = np.arange(len(self.sizes)) > 0
        return np.concatenate([self.pieces >= self.sizes[0], unknown])


class PairDataset(AbstractContextManager["PairDataset"]):
    """Training pairs on disk, read in blocks.

    Attributes:
        units: the table of each unit, in the order of `Sentences` and its `others`.
        monolingual: bool [n], which pairs are a sentence without a pair, twice. Nothing is trained on them.

    Args:
        path: HDF5 file written by `encode_dataset`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = h5py.File(path, "r", track_order=True)
        self._stored = [group for name, group in self._file.items() if name not in (GROUPS, MONOLINGUAL)]
        self.units = tuple(map(_table, self._stored))
        self._groups = self._file.get(GROUPS)
        self._n_pairs = len(self._stored[0][SIDES[0]]["offsets"]) - 1
        marked = self._file.get(MONOLINGUAL)
        self.monolingual = np.zeros(self._n_pairs, np.bool_) if marked is None else marked[:]

    def __len__(self) -> int:
        return self._n_pairs

    @property
    def n_trained(self) -> int:
        """Number of pairs that can be trained on."""
        return self._n_pairs - int(self.monolingual.sum())

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, start: int, stop: int) -> tuple[Sentences, Sentences]:
        """Read the pairs from `start` up to `stop`, as (source, target)."""
        groups = None if self._groups is None else _read(self._groups, start, stop)

        def side(name: str) -> Sentences:
            stored = zip(self.units, self._stored, strict=True)
            first, *others = (_read(group[name], start, stop, unit.row_of) for unit, group in stored)
            return Sentences(first.tokens, first.offsets, tuple(others), groups)

        return side("source"), side("target")

    def counts(self, *sides: str) -> list[Int64]:
        """Count how often each row of each unit's table occurs, on both sides or on those named."""
        every = [np.zeros(unit.n_rows, np.int64) for unit in self.units]
        for counts, unit, stored in zip(every, self.units, self._stored, strict=True):
            for tokens in (stored[side]["tokens"] for side in sides or SIDES):
                for start in range(0, len(tokens), TOKENS_PER_READ):
                    rows = unit.row_of[tokens[start : start + TOKENS_PER_READ]]
                    counts += np.bincount(rows, minlength=len(counts))
        return every

    def shuffled(
        self, generator: np.random.Generator, *, window: int, skip: int = 0
    ) -> Iterator[tuple[Sentences, Sentences]]:
        """Yield all pairs once in random order, except the first `skip`, some thousands at a time.

        Sentences without a pair are left out.

        Blocks of neighbouring pairs are drawn in random order, and a window of blocks, with about `window`
        pairs in all, is shuffled together. A window that holds the whole corpus gives a uniformly random
        order. A smaller one bounds memory and comes close to that, since the corpus is already shuffled on
        disk. Windows whose pairs are all skipped are not read.
        """
        blocks = generator.permutation(-(-len(self) // PAIRS_PER_BLOCK))
        per_window = max(1, window // PAIRS_PER_BLOCK)
        for first in range(0, len(blocks), per_window):
            starts = np.sort(blocks[first : first + per_window]) * PAIRS_PER_BLOCK
            stops = np.minimum(starts + PAIRS_PER_BLOCK, len(self))
            # Drawn even for a skipped window, because the orders of the later windows must not change.
            order = generator.permutation(int((stops - starts).sum()))
            left_out = [self.monolingual[start:stop] for start, stop in zip(starts, stops, strict=True)]
            order = order[~np.concatenate(left_out)[order]]
            if skip < len(order):
                parts = [self.read(start, stop) for start, stop in zip(starts, stops, strict=True)]
                source, target = (Sentences.concatenate(list(side)) for side in zip(*parts, strict=True))
                del parts
                for place in range(skip, len(order), PAIRS_PER_BLOCK):
                    some = order[place : place + PAIRS_PER_BLOCK]
                    yield source.take(some), target.take(some)
            skip = max(0, skip - len(order))


def _table(group: h5py.Group) -> UnitTable:
    sizes = tuple(int(size) for size in group.attrs["sizes"])
    unit = str(group.name).removeprefix("/")
    return UnitTable(unit, group["pieces"][:], sizes, bool(group.attrs["shared_unknown"]))


def _read(group: h5py.Group, start: int, stop: int, row_of: Int32 | None = None) -> Sentences:
    offsets = group["offsets"][start : stop + 1]
    tokens = group["tokens"][offsets[0] : offsets[-1]]
    return Sentences(tokens if row_of is None else row_of[tokens], offsets - offsets[0])


def open_vocabularies(
    sentencepiece: Sequence[Path], units: Sequence[UnitTable]
) -> list[list[SentencePieceProcessor]]:
    """The sentencepiece models of each unit, one for both languages or one for each, from all in order."""
    processors = [load_sentencepiece(path) for path in sentencepiece]
    count = len(processors) // len(units)
    return [processors[number * count : (number + 1) * count] for number in range(len(units))]


def pieces_of_rows(
    unit: UnitTable, processors: Sequence[SentencePieceProcessor]
) -> list[tuple[SentencePieceProcessor, int]]:
    """The sentencepiece model and the id there of the piece of each row; the last rows have none."""
    first = unit.sizes[0]
    return [
        (processors[0], piece) if piece < first else (processors[-1], piece - first)
        for piece in unit.pieces.tolist()
    ]
