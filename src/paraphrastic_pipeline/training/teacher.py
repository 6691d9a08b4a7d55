"""Embed training text with another encoder, whose judgement a model is to learn or to begin with."""

import logging
import shutil
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from sentencepiece import SentencePieceProcessor

from paraphrastic.base.arrays import Float16, Float32
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json, atomic_output, read_json, sha256, write_json
from paraphrastic.model.encoder import Encoder, finite_vectors
from paraphrastic.model.vocabulary import load_sentencepiece
from paraphrastic_pipeline.corpus.blocks import read_blocks
from paraphrastic_pipeline.training.dataset import PAIRS, SIDES, new_dataset
from paraphrastic_pipeline.training.pair_dataset import WORD_START, PairDataset, UnitTable, vocabulary_of

_log = logging.getLogger(__name__)

_ROWS_PER_CHUNK = 1024
# Pairs of a sample, and pieces, that are embedded together; so much work is lost if the step is killed.
_PAIRS, _PIECES = 4096, 8192


def embed_sample(
    pairs: str | Path,
    output: Path,
    *,
    encoder: Encoder,
    languages: Sequence[tuple[str, str]],
    known: Collection[str] | None,
    texts: Sequence[int] = (),
    sentences: int,
) -> None:
    """Write the teacher's unit vectors of the first pairs, which are in random order.

    `/source` and `/target` are float16 [pairs, dim]. A sentence in a language that the teacher does not know
    has the vector of the other side, whose meaning it shares; if it knows neither, both are zero. A step that
    was killed goes on where it was.

    Args:
        pairs: Parquet made by `merge_pairs`.
        output: the HDF5 file.
        encoder: the teacher.
        languages: languages of both sides for each number in the column `corpus`.
        known: languages that the teacher knows; None if it knows all.
        texts: numbers in the column `corpus` of corpora without pairs, whose lines are both sides of a pair.
        sentences: number of sentences at most: one for each pair of these corpora, and two for any other.

    Raises:
        InputError: a vector is not finite, or the teacher knows no language of the
            sample.
    """
    parts = output.with_suffix(".parts")
    identity: Json = {
        "pairs": sha256(pairs),
        "encoder": encoder.digest,
        "languages": [list(pair) for pair in languages],
        "known": None if known is None else sorted(known),
        "texts": list(texts),
    }
    about = parts / "about.json"
    if not about.is_file() or read_json(about) != identity:
        shutil.rmtree(parts, ignore_errors=True)
        write_json(about, identity)

    def vectors() -> Iterator[Float16]:
        left, done = sentences, 0
        for block in read_blocks(pairs, columns=[*SIDES, "corpus"], rows=_PAIRS):
            part = parts / f"{done:09d}.npy"
            if not part.is_file():
                made = _of_both_sides(block, encoder, languages, known, texts, str(pairs))
                with atomic_output(part) as temporary, temporary.open("wb") as file:
                    np.save(file, made)
            costs = np.cumsum(np.where(np.isin(block["corpus"], texts), 1, 2))
            size = int(np.searchsorted(costs, left, side="right"))
            # At least one pair, however few sentences are wanted.
            yield np.load(part, allow_pickle=False)[:, : size if done else max(1, size)]
            left -= int(costs[-1])
            done += block.num_rows
            _log.info("%s: %s sentences are embedded", output, f"{sentences - max(left, 0):,}")
            if left <= 0:
                return

    _write(output, encoder.dim, Path(pairs), vectors())
    shutil.rmtree(parts)


def _of_both_sides(
    block: pa.RecordBatch,
    encoder: Encoder,
    languages: Sequence[tuple[str, str]],
    known: Collection[str] | None,
    texts: Sequence[int],
    name: str,
) -> Float16:
    """The vectors of a block's pairs, float16 [2, pairs, dim]."""
    corpora = block["corpus"].to_numpy()
    made = np.zeros((2, block.num_rows, encoder.dim), np.float16)
    is_alone = np.isin(corpora, texts)
    for side, column in enumerate(SIDES):
        column_texts = np.array(block[column].to_pylist(), object)
        codes = np.array([pair[side] for pair in languages], object)[corpora]
        if side:
            # Both sides are the same sentence, so the second one gets the vector of the first one below.
            codes[is_alone] = None
        for code in dict.fromkeys(pair[side] for pair in languages):
            rows = np.flatnonzero(codes == code)
            if len(rows) and (known is None or code in known):
                made[side, rows] = _unit_vectors(encoder, column_texts[rows].tolist(), code, name)
    is_empty = np.logical_not(made.any(axis=2, keepdims=True))
    return np.where(is_empty, made[::-1], made)


def embed_pieces(dataset: Path, sentencepiece: Sequence[Path], output: Path, *, encoder: Encoder) -> None:
    """Write the teacher's unit vector of each piece by itself, `/{unit}` float16 [rows, dim] for each unit.

    Rows without text, such as those of bytes and of unknown pieces, are zero.

    Args:
        dataset: HDF5 file written by `encode_dataset`, whose tables have a row for each piece.
        sentencepiece: the models that it was encoded with, in the order of units and languages.
        output: the HDF5 file.
        encoder: the teacher.

    Raises:
        InputError: a vector is not finite.
    """
    loaded = iter(load_sentencepiece(model) for model in sentencepiece)
    with PairDataset(dataset) as pairs, new_dataset(output) as file:
        for unit in pairs.units:
            texts = piece_texts(unit, [next(loaded) for _ in unit.sentencepiece_sha256])
            table = file.create_dataset(unit.unit, (unit.n_rows, encoder.dim), np.float16)
            for start in range(0, len(texts), _PIECES):
                some = texts[start : start + _PIECES]
                there = [place for place, text in enumerate(some) if text]
                vectors = np.zeros((len(some), encoder.dim), np.float16)
                if there:
                    vectors[there] = _unit_vectors(
                        encoder, [some[place] for place in there], None, str(dataset)
                    )
                table[start : start + len(some)] = vectors


def piece_texts(unit: UnitTable, processors: Sequence[SentencePieceProcessor]) -> list[str]:
    """The text of each row's piece, without the mark of a word's beginning; empty if it has none."""
    texts = []
    for piece in unit.pieces:
        processor, number = vocabulary_of(int(piece), processors)
        kinds = (processor.is_byte, processor.is_control, processor.is_unknown, processor.is_unused)
        special = any(is_of_kind(number) for is_of_kind in kinds)
        texts.append("" if special else processor.id_to_piece(number).replace(WORD_START, " ").strip())
    return texts + [""] * (unit.n_rows - len(texts))


def _unit_vectors(encoder: Encoder, sentences: Sequence[str], language: str | None, name: str) -> Float32:
    vectors = finite_vectors(encoder, sentences, language, name=name)
    unit: Float32 = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit


def _write(output: Path, dim: int, pairs: Path, blocks: Iterator[Float16]) -> None:
    """Write blocks of both sides' vectors, each [2, n, dim], with the digest of the pairs."""
    with new_dataset(output) as file:
        file.attrs[PAIRS] = sha256(pairs)
        shape = {"maxshape": (None, dim), "chunks": (_ROWS_PER_CHUNK, dim), "fletcher32": True}
        for side in SIDES:
            file.create_dataset(side, (0, dim), np.float16, **shape)
        is_empty, any_known = True, False
        for block in blocks:
            is_empty, any_known = False, any_known or bool(block.any())
            for side, vectors in zip(SIDES, block, strict=True):
                stored = file[side]
                stored.resize(len(stored) + len(vectors), axis=0)
                stored[len(stored) - len(vectors) :] = vectors
        if is_empty:
            raise InputError(f"{pairs}: contains no pairs")
        if not any_known:
            raise InputError(f"{pairs}: the teacher knows no language of these pairs")
