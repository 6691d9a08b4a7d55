"""Training data as flat token arrays in HDF5.

    /subword/pieces           int32 [rows - 1]   piece of each table row, in order of first appearance
    /subword/source/tokens    int32 [n_tokens]   table rows, sentence after sentence
    /subword/source/offsets   int64 [n + 1]      sentence i is tokens[offsets[i]:offsets[i + 1]]
    /subword/target/…         the same for the other side
    /word/…, /trigram/…       the same sentences in other units
    /groups/tokens            int32 [n_groups]   groups of the pairs, pair after pair, if they are known
    /groups/offsets           int64 [n + 1]      pair i is in the groups tokens[offsets[i]:offsets[i + 1]]
    /monolingual              int64 [k]          pairs of which both sides are a sentence without a pair

`training.pair_dataset` reads them. The file has one group for each unit of the model. The last row,
`len(pieces)`, stands for a sentence without any piece (the original's `UUUNKKK`), and for every unknown piece
if they share a vector. If the languages have separate tables, one array holds both: the ids of target pieces
follow those of source pieces, and each language has such a row at the end. If two vocabularies overlap, a
piece that both spell alike has the source's id on either side. One more array lists these pieces:

    /subword/alike            int32 [k, 2]       id in the source vocabulary, id in the target vocabulary
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import h5py
import numpy as np

from paraphrastic.base.arrays import Int32
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic.model.units import spell
from paraphrastic.model.vocabulary import (
    byte_pieces,
    load_sentencepiece,
    ordinary_pieces,
    with_unknown_pieces,
)
from paraphrastic_pipeline.corpus.blocks import read_blocks
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.vocabulary import spelled_alike

TOKENS_PER_CHUNK = 1 << 16
PAIRS_PER_BLOCK = 8192
# Disk space kept free for what HDF5 writes later: its own structures, and chunks that it still holds.
RESERVE_BYTES = 16 << 20
SIDES = ("source", "target")
GROUPS, MONOLINGUAL = "groups", "monolingual"

# Repeated from `model.architecture`: if that were imported, a change there would encode all data again.
Tables = Literal["shared", "separate", "overlapping"]


@dataclass(frozen=True, slots=True)
class UnitVocabulary:
    """How sentences are tokenized in one unit.

    Attributes:
        unit: one of `units.UNITS`.
        models: one sentencepiece model for both sides, or one for each.
        max_pieces: sentences are truncated to this many pieces; None keeps them whole.
        shared_unknown: whether unknown pieces share a vector; otherwise they are left out.
    """

    unit: str
    models: tuple[Path, ...]
    max_pieces: int | None
    shared_unknown: bool = False


def encode_dataset(
    pairs: Path,
    units: Sequence[Mapping[str, Any]],
    dataset: Path,
    *,
    tables: Tables = "shared",
    grouped: bool = False,
    texts: Sequence[int] = (),
    threads: int,
    batch_rows: int = 65_536,
) -> None:
    """Segment `pairs` into pieces of every unit and write them as training data.

    Pieces get their rows in the order in which they first appear (source before target); those that do not
    appear get the rows after that. A sentence without any known piece becomes a single token: `len(pieces)`,
    or the row after that for a target whose side has a separate table.

    Args:
        pairs: Parquet with the columns `source` and `target`, and also `groups` if `grouped`.
        units: the fields of the `UnitVocabulary` of each unit, in the order in which an encoder takes them.
        dataset: the HDF5 file.
        tables: whether the sides share all rows, none, or those of pieces that both spell alike.
        grouped: whether it is known which groups of sentences that mean the same the pairs are in.
        texts: numbers in the column `corpus` of corpora without pairs, whose lines are both sides of a pair.
        threads: threads of sentencepiece.
        batch_rows: pairs held in memory at a time; the output does not depend on it.
    """
    with new_dataset(dataset) as file:
        vocabularies = [UnitVocabulary(**unit) for unit in units]
        tokenizers = [
            _UnitTokenizer(unit, file.create_group(unit.unit), tables, threads) for unit in vocabularies
        ]
        for sentences in read_sides(pairs, file, grouped=grouped, texts=texts, batch_rows=batch_rows):
            for tokenizer in tokenizers:
                tokenizer.append(sentences)
        for tokenizer in tokenizers:
            tokenizer.finish(pairs)


@contextmanager
def new_dataset(output: Path) -> Iterator[h5py.File]:
    """Write an HDF5 file that is either complete or absent."""
    with atomic_output(output) as temporary, h5py.File(temporary, "w", track_order=True) as file:
        yield file


def read_sides(
    pairs: Path, file: h5py.File, *, grouped: bool, texts: Sequence[int], batch_rows: int
) -> Iterator[list[list[str]]]:
    """The sentences of both sides of pairs, in blocks; their groups and `texts` are written to `file`."""
    if grouped:
        create_side(file, GROUPS)
    columns = [*SIDES, *([GROUPS] if grouped else []), *(["corpus"] if texts else [])]
    alone, read = [np.empty(0, np.int64)], 0
    for batch in read_blocks(pairs, rows=batch_rows, columns=columns):
        yield [batch[side].to_pylist() for side in SIDES]
        if texts:
            alone.append(read + np.flatnonzero(np.isin(batch["corpus"], texts)))
            read += batch.num_rows
        if grouped:
            groups = batch[GROUPS]
            offsets = np.append(0, np.cumsum(groups.value_lengths().to_numpy()))
            append_sentences(file[GROUPS], Sentences(groups.flatten().to_numpy(), offsets))
    if texts:
        file[MONOLINGUAL] = np.concatenate(alone)


class _UnitTokenizer:
    """Cuts sentences into one unit and writes them."""

    def __init__(self, vocabulary: UnitVocabulary, group: h5py.Group, tables: Tables, threads: int) -> None:
        self.vocabulary = vocabulary
        self.group = group
        self.threads = threads
        # Capitals that normalization brings back have spellings of their own, as in the original.
        processors = [
            with_unknown_pieces(load_sentencepiece(model), lowercase=False) for model in vocabulary.models
        ]
        self.processors = [processors[0], processors[-1]]
        sizes = [processor.get_piece_size() for processor in self.processors]
        separate = tables != "shared" or len(processors) > 1
        self.sizes = sizes if separate else sizes[:1]
        # The ids that each side's pieces have in the data; those of a separate target follow the source's.
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
        self._number_by_appearance(pieces)
        for side, sentences in zip(SIDES, pieces, strict=True):
            # A token of -1 is an unknown piece. Its row is known only when all other pieces have rows.
            rows = np.where(sentences.tokens < 0, -1, self.row_of_piece[sentences.tokens])
            append_sentences(self.group[side], Sentences(rows.astype(np.int32), sentences.offsets))

    def finish(self, pairs: Path) -> None:
        if self.n_rows == 0:
            models = " or ".join(map(str, self.vocabulary.models))
            raise InputError(f"{pairs}: no sentence has a piece of {models}")
        for ids, processor in zip(self.ids, self.processors, strict=True):
            # A text in use may have them, even if they are only parts of longer pieces in the data.
            self._number(ids[[*byte_pieces(processor), *ordinary_pieces(processor)]])
        for number, side in enumerate(SIDES):
            unknown, tokens = self.n_rows + number * (len(self.sizes) - 1), self.group[side]["tokens"]
            for start in range(0, len(tokens), TOKENS_PER_CHUNK):
                block = tokens[start : start + TOKENS_PER_CHUNK]
                if (block < 0).any():
                    tokens[start : start + TOKENS_PER_CHUNK] = np.where(block < 0, unknown, block)
        known = np.flatnonzero(self.row_of_piece >= 0)
        pieces = known[np.argsort(self.row_of_piece[known])].astype(np.int32)
        write_pieces(self.group, pieces, self.sizes, self.alike)
        self.group.attrs["shared_unknown"] = self.vocabulary.shared_unknown

    def _number_by_appearance(self, sides: list[Sentences]) -> None:
        """Assign the next rows to new pieces, in the order in which the pairs contain them."""
        in_order = np.arange(2 * len(sides[0])).reshape(2, -1).T.ravel()
        pieces, first = np.unique(Sentences.concatenate(sides).take(in_order).tokens, return_index=True)
        self._number(pieces[np.argsort(first)])

    def _number(self, pieces: Int32) -> None:
        """Assign the next rows to those of these pieces that have none; each is given once."""
        new = pieces[(pieces >= 0) & (self.row_of_piece[pieces] < 0)]
        self.row_of_piece[new] = self.n_rows + np.arange(len(new))
        self.n_rows += len(new)

    def _encode(self, side: int, sentences: list[str]) -> Sentences:
        processor, longest = self.processors[side], self.vocabulary.max_pieces
        unknown = processor.unk_id()
        ids = processor.encode(sentences, out_type=int, num_threads=self.threads)
        if self.vocabulary.shared_unknown:
            kept = [
                [-1 if piece == unknown else piece for piece in pieces[:longest]] or [-1] for pieces in ids
            ]
        else:
            kept = [[piece for piece in pieces[:longest] if piece != unknown] or [-1] for pieces in ids]
        lengths = np.fromiter(map(len, kept), dtype=np.int64, count=len(kept))
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        tokens = np.fromiter((piece for sentence in kept for piece in sentence), np.int32, count=offsets[-1])
        return Sentences(np.where(tokens < 0, -1, self.ids[side][tokens]), offsets)


def write_pieces(unit: h5py.Group, pieces: Int32, sizes: Sequence[int], alike: Int32) -> None:
    """Record which piece each row of a unit's table belongs to; see `pair_dataset.UnitTable`."""
    unit["pieces"], unit["alike"] = pieces, alike
    unit.attrs["sizes"] = sizes


def create_side(unit: h5py.Group, side: str) -> None:
    """Create empty arrays for the sentences of a side."""
    group = unit.create_group(side)
    growing = {"maxshape": (None,), "fletcher32": True}
    group.create_dataset("tokens", (0,), np.int32, chunks=(TOKENS_PER_CHUNK,), **growing)
    group.create_dataset("offsets", (1,), np.int64, chunks=(PAIRS_PER_BLOCK,), **growing)


def append_sentences(group: h5py.Group, sentences: Sentences) -> None:
    """Append sentences to a side."""
    # Checked first, since HDF5 does not survive a full disk: closing the file would end the process.
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
