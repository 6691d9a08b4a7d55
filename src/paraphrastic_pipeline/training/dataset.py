"""Training data as flat token arrays in HDF5.

    /subword/source/tokens    int32 [n_tokens]   pieces, sentence after sentence
    /subword/source/offsets   int64 [n + 1]      sentence i is tokens[offsets[i]:offsets[i + 1]]
    /subword/target/…         the same for the other side
    /subword/pieces           int32 [rows]       piece of each table row, in order of first appearance
    /word/…, /trigram/…       the same sentences in other units
    /groups/tokens            int32 [n_groups]   groups of the pairs, pair after pair, if they are known
    /groups/offsets           int64 [n + 1]      pair i is in the groups tokens[offsets[i]:offsets[i + 1]]
    /monolingual              bool [n]           whether both sides are a sentence without a pair

`training.pair_dataset` reads them. The file has one group for each unit of the model. If the languages have
separate tables, the ids of target pieces follow those of source pieces. If two vocabularies overlap, a piece
that both spell alike has the source's id on either side. After the ids of all pieces comes one for each
table, which stands for a sentence without any piece (the original's `UUUNKKK`), and for every unknown piece
if they share a vector.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import h5py
import numpy as np

from paraphrastic.base.arrays import Int32, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic.model.units import spell
from paraphrastic.model.vocabulary import (
    byte_pieces,
    load_sentencepiece,
    ordinary_pieces,
    with_unknown_pieces,
)
from paraphrastic_pipeline.corpus.blocks import read_blocks, read_table
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.vocabulary import spelled_alike

TOKENS_PER_CHUNK = 1 << 16
PAIRS_PER_BLOCK = 8192
# Disk space that is kept free.
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


class Tokenizer(Protocol):
    """Tokenizes sentences in one unit."""

    unit: str

    def tokenize(self, sides: Sequence[list[str]]) -> list[Sentences]:
        """The next sentences of both sides, as pieces."""

    def describe(self, group: h5py.Group) -> None:
        """Write which piece each row of the unit's table belongs to; see `pair_dataset.UnitTable`."""


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
    appear get the rows after that, since a text in use may have them.

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
    tokenizers = [_UnitTokenizer(UnitVocabulary(**unit), tables, threads) for unit in units]
    write_dataset(pairs, tokenizers, dataset, grouped=grouped, texts=texts, batch_rows=batch_rows)


def write_dataset(
    pairs: Path,
    tokenizers: Sequence[Tokenizer],
    dataset: Path,
    *,
    grouped: bool,
    texts: Sequence[int],
    batch_rows: int,
) -> None:
    """Tokenize `pairs` in every unit and write them as training data; see `encode_dataset`."""
    with new_dataset(dataset) as file:
        for tokenizer in tokenizers:
            for side in SIDES:
                _create_sentences(file, f"{tokenizer.unit}/{side}")
        if grouped:
            _create_sentences(file, GROUPS)
        for batch in read_blocks(pairs, rows=batch_rows, columns=[*SIDES, *([GROUPS] if grouped else [])]):
            sides = [batch[side].to_pylist() for side in SIDES]
            for tokenizer in tokenizers:
                for side, sentences in zip(SIDES, tokenizer.tokenize(sides), strict=True):
                    _append(file[tokenizer.unit][side], sentences.tokens, sentences.lengths)
            if grouped:
                groups = batch[GROUPS]
                _append(file[GROUPS], groups.flatten().to_numpy(), groups.value_lengths().to_numpy())
        for tokenizer in tokenizers:
            tokenizer.describe(file[tokenizer.unit])
        if texts:
            file[MONOLINGUAL] = np.isin(read_table(pairs, columns=["corpus"])["corpus"], texts)


@contextmanager
def new_dataset(output: Path) -> Iterator[h5py.File]:
    """Write an HDF5 file that is either complete or absent."""
    with atomic_output(output) as temporary, h5py.File(temporary, "w", track_order=True) as file:
        yield file


class _UnitTokenizer:
    """Tokenizes sentences in one unit by sentencepiece."""

    def __init__(self, vocabulary: UnitVocabulary, tables: Tables, threads: int) -> None:
        self.unit, self.vocabulary, self.threads = vocabulary.unit, vocabulary, threads
        # Capitals that normalization brings back have spellings of their own, as in the original.
        processors = [
            with_unknown_pieces(load_sentencepiece(model), lowercase=False) for model in vocabulary.models
        ]
        self.processors = [processors[0], processors[-1]]
        sizes = [processor.get_piece_size() for processor in self.processors]
        separate = tables != "shared" or len(processors) > 1
        self.sizes = sizes if separate else sizes[:1]
        # The ids that each side's pieces have in the data, and for which unknown pieces have another one.
        self.ids = [np.arange(size, dtype=np.int32) for size in sizes]
        if separate:
            self.ids[1] += sizes[0]
        if tables == "overlapping":
            source, target = spelled_alike(*self.processors).T
            self.ids[1][target] = source
        for side, processor in enumerate(self.processors):
            self.ids[side][processor.unk_id()] = sum(self.sizes) + (side if separate else 0)
        self.met = np.zeros(sum(self.sizes), np.bool_)
        self.pieces: list[Int32] = []

    def tokenize(self, sides: Sequence[list[str]]) -> list[Sentences]:
        encoded = [self._encode(side, spell(column, self.unit)) for side, column in enumerate(sides)]
        in_order = np.arange(2 * len(encoded[0])).reshape(2, -1).T.ravel()
        tokens, first = np.unique(Sentences.concatenate(encoded).take(in_order).tokens, return_index=True)
        self._meet(tokens[np.argsort(first)])
        return encoded

    def _meet(self, pieces: Int32) -> None:
        """Give the next rows to those of these pieces that have none; each is given once."""
        new = pieces[pieces < len(self.met)]
        new = new[~self.met[new]]
        self.met[new] = True
        self.pieces.append(new)

    def _encode(self, side: int, sentences: list[str]) -> Sentences:
        processor, longest = self.processors[side], self.vocabulary.max_pieces
        unknown = processor.unk_id()
        kept = []
        for pieces in processor.encode(sentences, out_type=int, num_threads=self.threads):
            pieces = pieces[:longest]
            if not self.vocabulary.shared_unknown:
                pieces = [piece for piece in pieces if piece != unknown]
            kept.append(pieces or [unknown])
        lengths = np.fromiter(map(len, kept), dtype=np.int64, count=len(kept))
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        tokens = np.fromiter((piece for sentence in kept for piece in sentence), np.int32, count=offsets[-1])
        return Sentences(self.ids[side][tokens], offsets)

    def describe(self, group: h5py.Group) -> None:
        for ids, processor in zip(self.ids, self.processors, strict=True):
            self._meet(ids[[*byte_pieces(processor), *ordinary_pieces(processor)]])
        group["pieces"] = np.concatenate(self.pieces)
        group.attrs["sizes"], group.attrs["shared_unknown"] = self.sizes, self.vocabulary.shared_unknown


def _create_sentences(file: h5py.File, name: str) -> None:
    group = file.create_group(name)
    growing = {"maxshape": (None,), "fletcher32": True}
    group.create_dataset("tokens", (0,), np.int32, chunks=(TOKENS_PER_CHUNK,), **growing)
    group.create_dataset("offsets", (1,), np.int64, chunks=(PAIRS_PER_BLOCK,), **growing)


def _append(group: h5py.Group, tokens: Int32, lengths: Int64) -> None:
    # Checked first, since HDF5 does not survive a full disk. It still holds chunks, and writes more itself.
    folder = Path(group.file.filename).parent
    if shutil.disk_usage(folder).free < tokens.nbytes + lengths.nbytes + RESERVE_BYTES:
        raise InputError(f"{folder}: cannot be written: No space left on device")
    of_tokens, of_offsets = group["tokens"], group["offsets"]
    for stored, values in ((of_tokens, tokens), (of_offsets, len(of_tokens) + np.cumsum(lengths))):
        start = len(stored)
        stored.resize((start + len(values),))
        stored[start:] = values
