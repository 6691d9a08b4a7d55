"""Embed training text with another encoder, a teacher, and fit the tables that a model begins with."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse
from sentencepiece import SentencePieceProcessor

from paraphrastic.base.arrays import Float16, Float32
from paraphrastic.base.errors import InputError
from paraphrastic.model.encoder import Encoder, finite_vectors
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.corpus.blocks import read_blocks
from paraphrastic_pipeline.training.dataset import SIDES, new_dataset
from paraphrastic_pipeline.training.pair_dataset import (
    WORD_START,
    PairDataset,
    UnitTable,
    open_vocabularies,
    pieces_of_rows,
)
from paraphrastic_pipeline.training.teacher_tables import bags_of_rows, ridge, rotated

_log = logging.getLogger(__name__)

# Pairs that are read, and pieces that are embedded, at a time.
_PAIRS, _PIECES = 4096, 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The sentences that a teacher embeds; pairs are in random order, so these are the first ones.

    Attributes:
        sentences: number of sentences at most: one for each pair of `texts`, and two for any other.
        languages: languages of both sides for each number in the column `corpus`.
        known: languages that the teacher knows; None if it knows all.
        texts: numbers in the column `corpus` of corpora without pairs, whose lines are both sides of a pair.
    """

    sentences: int
    languages: Sequence[tuple[str, str]]
    known: Collection[str] | None
    texts: Sequence[int] = ()


def fit_tables(
    dataset: Path,
    pairs: Path,
    sentencepiece: Sequence[Path],
    tables: Path,
    *,
    system: str | Mapping[str, Any],
    sample: Mapping[str, Any],
    threads: int,
) -> None:
    """Write a table for each unit, `/{unit}` float32 [rows, dim of the teacher], whose columns are rotated.

    The first k columns are those in which the sentences' vectors are longest, for any k, so that a table of
    fewer dimensions consists of the first columns. The result is the same for any number of threads.

    Args:
        dataset: HDF5 file written by `encode_dataset`.
        pairs: Parquet that it was made from, with the column `corpus`.
        sentencepiece: the models that it was encoded with, in the order of units and languages.
        tables: the HDF5 file.
        system: the teacher, as `open_encoder` takes it.
        sample: the fields of a `Sample`.
        threads: number of threads.

    Raises:
        InputError: a vector is not finite, or the teacher knows no language of the sample.
    """
    encoder = open_encoder(system, threads=threads)
    vectors = embed_sample(pairs, encoder, Sample(**sample))
    targets = np.concatenate(list(vectors)).astype(np.float32)
    with PairDataset(dataset) as data, new_dataset(tables) as file:
        sides = data.read(0, vectors.shape[1])
        # A sentence without a pair is on both sides, and counts once.
        again = np.append(np.zeros(vectors.shape[1], np.bool_), data.monolingual[: vectors.shape[1]])
        rows = np.flatnonzero(targets.any(axis=1) & ~again)
        vocabularies = open_vocabularies(sentencepiece, data.units)
        for number, (unit, processors) in enumerate(zip(data.units, vocabularies, strict=True)):
            bags = scipy.sparse.vstack(
                [bags_of_rows([side, *side.others][number], unit.n_rows) for side in sides], format="csr"
            )[rows]
            own = embed_pieces(unit, processors, encoder).astype(np.float32)
            file[unit.unit] = rotated(ridge(bags, targets[rows], own, threads=threads), bags)


def embed_sample(pairs: Path, encoder: Encoder, sample: Sample) -> Float16:
    """The teacher's unit vectors of the first pairs, [2, pairs, dim].

    A sentence in a language that the teacher does not know has the vector of the other side, whose meaning it
    shares; if it knows neither, both are zero.
    """
    blocks, left = [np.empty((2, 0, encoder.dim), np.float16)], sample.sentences
    for block in read_blocks(pairs, columns=[*SIDES, "corpus"], rows=_PAIRS):
        costs = np.cumsum(np.where(np.isin(block["corpus"], sample.texts), 1, 2))
        chosen = block.slice(0, int(np.searchsorted(costs, left, side="right")))
        blocks.append(_of_both_sides(chosen, encoder, sample, str(pairs)))
        left -= int(costs[-1])
        _log.info("%s: %s sentences are embedded", pairs, f"{sample.sentences - max(left, 0):,}")
        if left <= 0:
            break
    vectors = np.concatenate(blocks, axis=1)
    if not vectors.any():
        raise InputError(f"{pairs}: contains no pairs in a language that the teacher knows")
    return vectors


def _of_both_sides(block: pa.RecordBatch, encoder: Encoder, sample: Sample, name: str) -> Float16:
    """The vectors of a block's pairs, [2, pairs, dim]."""
    corpora = block["corpus"].to_numpy()
    vectors = np.zeros((2, block.num_rows, encoder.dim), np.float16)
    for side, column in enumerate(SIDES):
        texts = np.array(block[column].to_pylist(), object)
        codes = np.array([pair[side] for pair in sample.languages], object)[corpora]
        if side:
            # Both sides are the same sentence, so the second one gets the vector of the first one below.
            codes[np.isin(corpora, sample.texts)] = None
        for code in dict.fromkeys(pair[side] for pair in sample.languages):
            rows = np.flatnonzero(codes == code)
            if len(rows) and (sample.known is None or code in sample.known):
                vectors[side, rows] = _unit_vectors(encoder, texts[rows].tolist(), code, name)
    is_empty = np.logical_not(vectors.any(axis=2, keepdims=True))
    return np.where(is_empty, vectors[::-1], vectors)


def embed_pieces(unit: UnitTable, processors: Sequence[SentencePieceProcessor], encoder: Encoder) -> Float16:
    """The teacher's unit vector of each row's piece by itself, without the mark of a word's beginning.

    Rows without text, such as those of bytes and of unknown pieces, are zero.
    """
    vectors = np.zeros((unit.n_rows, encoder.dim), np.float16)
    texts = {}
    for row, (processor, piece) in enumerate(pieces_of_rows(unit, processors)):
        kinds = (processor.is_byte, processor.is_control, processor.is_unknown, processor.is_unused)
        text = processor.id_to_piece(piece).replace(WORD_START, " ").strip()
        if text and not any(is_of_kind(piece) for is_of_kind in kinds):
            texts[row] = text
    for start in range(0, unit.n_rows, _PIECES):
        rows = [row for row in range(start, min(start + _PIECES, unit.n_rows)) if row in texts]
        if rows:
            vectors[rows] = _unit_vectors(encoder, [texts[row] for row in rows], None, "pieces")
    return vectors


def _unit_vectors(encoder: Encoder, sentences: Sequence[str], language: str | None, name: str) -> Float32:
    vectors = finite_vectors(encoder, sentences, language, name=name)
    unit: Float32 = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit
