"""Convert training data of the original code into training data of this project.

The original's HDF5 file has a data set `data` with n rows and two columns. Each cell is an array of variable
length: the rows of a sentence's pieces in the embedding table. The vocabulary is a text file with lines
`piece TAB row`; training adds one more row, for sentences without a piece.
"""

import logging
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Int32
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, sha256, write_json
from paraphrastic.base.numbers import is_count
from paraphrastic.interop.unknown_pieces import add_unknown_pieces
from paraphrastic.model.vocabulary import load_sentencepiece
from paraphrastic_pipeline.training.dataset import (
    SIDES,
    append_sentences,
    create_side,
    new_dataset,
    write_pieces,
)
from paraphrastic_pipeline.training.sentences import Sentences

log = logging.getLogger(__name__)

_DATA = "data"


def import_dataset(
    hdf5: Path,
    vocabulary: Path,
    sentencepiece_model: Path,
    output: Path,
    model: Path,
    counts: Path,
    *,
    batch_rows: int = 65_536,
) -> None:
    """Convert the original code's training data; pieces keep the rows that they have there.

    The order of pairs is kept. A sentence without a piece gets the row after all others, as in the original.

    Args:
        hdf5: the original's data.
        vocabulary: the original's vocabulary.
        sentencepiece_model: the model that cut the original's text.
        output: HDF5 file to write; see the module `dataset`.
        model: sentencepiece model to write, with the vocabulary's unknown pieces.
        counts: JSON file to write, with the number of pairs as in `merge_pairs`: `corpora`, each with `kept`.
        batch_rows: pairs held in memory at a time; the output does not depend on it.

    Raises:
        InputError: a file is missing, damaged or malformed (the message says where), or the files do not
            belong together.
    """
    known = read_vocabulary(vocabulary)
    processor = load_sentencepiece(sentencepiece_model)
    if (unknown := processor.id_to_piece(processor.unk_id())) in known:
        raise InputError(f"{vocabulary}: has {unknown!r}, which is not a piece but stands for unknown ones")
    try:
        processor = add_unknown_pieces(processor, known)
    except InputError as error:
        raise InputError(f"{vocabulary} with {sentencepiece_model}: {error}") from None
    with atomic_output(model) as temporary:
        temporary.write_bytes(processor.serialized_model_proto())
    pieces = np.array(processor.piece_to_id(known), np.int32)
    with new_dataset(output, *map(sha256, (hdf5, vocabulary, sentencepiece_model))) as file:
        unit = file.create_group("subword")
        for side in SIDES:
            create_side(unit, side)
        n_pairs = 0
        met = np.zeros(len(pieces) + 1, np.bool_)
        for block in read_pairs(hdf5, n_rows=len(pieces), batch_rows=batch_rows):
            n_pairs += len(block[0])
            for side, sentences in zip(SIDES, block, strict=True):
                met[sentences.tokens] = True
                append_sentences(unit[side], sentences)
        alike = np.empty((0, 2), np.int32)
        write_pieces(unit, pieces, [processor.get_piece_size()], alike, [sha256(model)])
    write_json(counts, {"corpora": [{"kept": n_pairs}]})
    unmet = len(pieces) - int(met[:-1].sum())
    log.info("%s: %d pairs; %d of %d pieces do not occur", hdf5, n_pairs, unmet, len(pieces))


def read_vocabulary(path: Path) -> list[str]:
    """Read the pieces of a vocabulary file, in the order of their rows.

    Raises:
        InputError: the file is unreadable, empty or lacks a row; a line is malformed or not unique.
    """
    rows: dict[int, str] = {}
    lines: dict[str, int] = {}
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            cells = line.decode().split("\t")
        except UnicodeDecodeError:
            raise InputError(f"{path}, line {number}: is not UTF-8") from None
        if len(cells) != 2 or cells[0].split() != [cells[0]] or not is_count(cells[1]):
            raise InputError(f"{path}, line {number}: is not a piece, a tab and a row: {line[:60]!r}")
        piece, row = cells[0], int(cells[1])
        if piece in lines:
            raise InputError(f"{path}, line {number}: {piece!r} is already in line {lines[piece]}")
        if row in rows:
            raise InputError(f"{path}, line {number}: {rows[row]!r} has the row {row} already")
        rows[row], lines[piece] = piece, number
    if not rows:
        raise InputError(f"{path}: is empty")
    if (last := max(rows)) != len(rows) - 1:
        raise InputError(f"{path}: has {len(rows)} pieces but a row {last}, so rows are missing")
    return [rows[row] for row in range(len(rows))]


def read_pairs(path: Path, *, n_rows: int, batch_rows: int) -> Iterator[tuple[Sentences, Sentences]]:
    """Yield the pairs of an HDF5 file, `batch_rows` at a time, as (source, target).

    Args:
        path: the file.
        n_rows: rows of the vocabulary; sentences without a piece get the next one.
        batch_rows: pairs per block.

    Raises:
        InputError: the file is damaged or of another kind, or names a row that the vocabulary does not have.
    """
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"{path}: not readable as HDF5: {_line(error)}") from None
    with file:
        try:
            data = file[_DATA]
            kind = h5py.check_vlen_dtype(data.dtype)
        except (KeyError, RuntimeError, AttributeError) as error:
            raise InputError(f"{path}: has no data set {_DATA!r}: {_line(error)}") from None
        if kind is None or np.dtype(kind).kind not in "iu" or data.ndim != 2 or data.shape[1] != 2:
            raise InputError(f"{path}: {_DATA} is {data}, not two columns of integer arrays of any length")
        if not len(data):
            raise InputError(f"{path}: {_DATA} has no rows")
        for start in range(0, len(data), batch_rows):
            stop = min(len(data), start + batch_rows)
            try:
                block = data[start:stop]
            except (OSError, RuntimeError) as error:
                where = f"{_DATA}, rows {start} to {stop - 1}"
                raise InputError(f"{path}: {where}: cannot be read: {_line(error)}") from None
            source, target = (_sentences(path, block, side, start, n_rows) for side in range(2))
            yield source, target


def _sentences(path: Path, block: npt.NDArray[np.object_], side: int, start: int, n_rows: int) -> Sentences:
    """The sentences in one column of a block; `start` is the row in the file at which the block begins."""
    column = block[:, side]
    lengths = np.fromiter(map(len, column), np.int64, len(column))
    flat = np.concatenate(column)
    if wrong := np.flatnonzero((flat < 0) | (flat >= n_rows))[:1].tolist():
        row = int(np.searchsorted(np.cumsum(lengths), wrong[0], side="right"))
        raise InputError(
            f"{path}: {_DATA}, row {start + row}, column {side}: {flat[wrong[0]]} is not one of the "
            f"vocabulary's {n_rows} rows"
        )
    empty = lengths == 0
    tokens: Int32 = np.insert(flat, np.cumsum(lengths)[empty], n_rows).astype(np.int32)
    return Sentences(tokens, np.concatenate(([0], np.cumsum(np.maximum(lengths, 1)))))


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
