"""Check that a matrix which is searched comes from the model that embeds the queries."""

import os
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from paraphrastic.base.arrays import unit_rows
from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import Source
from paraphrastic.model.encoder import BLOCK_SENTENCES, SentenceEncoder
from paraphrastic.model.matrix_description import (
    Maker,
    MatrixDescription,
    description_path,
    read_description,
    sampled_rows,
)
from paraphrastic.model.system import System
from paraphrastic.model.vector_tables import of_one_type
from paraphrastic.neighbours.vectors import Matrix

# Number of rows whose sentences are embedded again, and the lowest cosine of a row with the new vector.
_CHECKED_ROWS = 16
_SAME = 0.99


def check_model(
    matrix: Matrix, system: System | SentenceEncoder, model: str | None
) -> tuple[Maker | None, str | None]:
    """Return the description of a matrix or, if nothing says which model made it, a note about that.

    A FAISS index, such as `vectors.faiss`, may have its own description, `vectors.faiss.json`. Otherwise, it
    has the one of `vectors.npy`, if it holds the same vectors. The system, which `--model` calls `model`,
    embeds the queries.

    Raises:
        InputError: the description is damaged, or names another model.
    """
    name = matrix.name
    if matrix.maker:
        _require_same(matrix.maker, name, system, model)
        return matrix.maker, None
    places = [description_path(name)]
    if name.endswith(".faiss"):
        places.append(description_path(Path(name).with_suffix(".npy")))
    others = []
    for place in places:
        if (description := read_description(place)) is None:
            continue
        if _describes(description, matrix):
            _require_same(description, name, system, model)
            return description, None
        others.append(str(place))
    cause = f"{others[0]} describes other vectors" if others else "there is no description beside it"
    doubt = f"{cause}, so it is not known which model made it"
    return None, f"{name}: {doubt}; the result makes sense only if it was {system.label}"


def _describes(description: MatrixDescription, matrix: Matrix) -> bool:
    if matrix.shape != (description.rows, description.dimension):
        return False
    sample = matrix.some(sampled_rows(description.rows).tolist())
    return sample is not None and description.describes(description.rows, sample, is_exact=matrix.is_exact)


def _require_same(description: Maker, name: str, system: System | SentenceEncoder, model: str | None) -> None:
    """Raise an `InputError` if another model made the matrix."""
    if (description.digest, description.preparation) == (system.digest, system.preparation):
        return
    if model is not None and os.path.realpath(description.model) == os.path.realpath(model):
        changed = f"made by {description.label} before the model in {model} changed"
        raise InputError(f"{name}: {changed}; make it again with `paraphrastic embed`")
    again = f"--model {shlex.quote(model)}" if model else "this model"
    label = description.label
    if label == system.label:
        label += f" of --model {shlex.quote(description.model)}"
    raise InputError(
        f"{name}: made by the model {label}, but {system.label} embeds the sentences to search for; "
        f"give --model {shlex.quote(description.model)}, or make the matrix again with {again}"
    )


def check_sentences(matrix: Matrix, source: Source, system: System, made: Maker | None) -> None:
    """Check that line i of a text is the sentence of row i: by their number, and by embedding some again.

    If no description says which model `made` the matrix, it may be another one, or have been told another
    language, so it is enough that one row agrees.

    Raises:
        InputError: the numbers of lines and rows differ, or sentences and rows do not belong together.
    """
    count = matrix.shape[0]
    path = source.path
    few = np.random.default_rng(count).choice(count, min(_CHECKED_ROWS, count), replace=False)
    wanted, lines = set(few.tolist()), 0
    sentences: dict[int, str] = {}
    places: dict[int, int] = {}
    for row, (line, text) in enumerate(sentences_of(matrix, source)):
        lines = row + 1
        if row in wanted:
            sentences[row], places[row] = text, line
    if lines != count:
        read, hint = "", ""
        if not matrix.has_all_rows:
            read = " that can be read"
            if source.identity is None:
                hint = "; if some were left out for their identities, --sentences-id names the column"
        raise InputError(f"{path} has {lines} rows{read}, but {matrix.name} has {count}{hint}")
    rows = matrix.some(list(sentences)) if matrix.is_exact else None
    if rows is None or not np.isfinite(rows).all():
        return
    language = made.language if made else None
    try:
        again = system.embed_finite(list(sentences.values()), language, name=path)
    except InputError:
        if made:
            raise
        return
    has_text = again.any(axis=1) | rows.any(axis=1)
    cosines = (unit_rows(rows) * unit_rows(again)).sum(axis=1)
    differ = has_text & (cosines < _SAME)
    if not differ.any() or (made is None and (differ != has_text).any()):
        return
    first = int(differ.argmax())
    row, cosine = list(sentences)[first], f"their cosine is {cosines[first]:.2f}"
    number, place = row + 1, f"{path}:{places[row]}"
    if not places[row]:
        raise InputError(f"{path}: its row {number} cannot be read, but {matrix.name} has its vector")
    if made:
        raise InputError(
            f"{place}: is not the sentence of row {number} of {matrix.name} ({cosine}); "
            "give the text that the matrix was made of, with its lines in that order"
        )
    raise InputError(
        f"{place}: {system.label} embeds it otherwise than row {number} of {matrix.name} ({cosine}), and "
        "likewise all other lines looked at; give the model and the text that the matrix was made of"
    )


def sentences_of(matrix: Matrix, source: Source) -> Iterator[tuple[int, str]]:
    """Yield the line and the sentence of each row of a matrix, which may lack those that were unreadable."""
    for rows in (source.batches if matrix.has_all_rows else partial(of_one_type, source))(BLOCK_SENTENCES):
        left_out = () if matrix.has_all_rows else {*rows.faults}
        for place, (lines, text) in enumerate(zip(rows.lines, rows.columns[0], strict=True)):
            if place not in left_out:
                yield (lines[0] if lines else 0), text
