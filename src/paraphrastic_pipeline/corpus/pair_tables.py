"""Tables of sentence pairs: TSV, CSV, JSON lines and Parquet.

`columns` names the columns: one for each side, then optionally the paraphrase score and the translation
score. If it is empty, the sides are columns named after the two languages, the same inside `translation`, or
`source` and `target`, and the scores are `score` and `translation_score`. A dot in a name leads into a nested
object. In TSV and CSV, columns are numbers from 1, or names if the first line is a header; if none are given,
the two or three columns are source, target and paraphrase score, and a header of CSV may have these names.
The first row decides which columns and scores there are; a later row that differs is unreadable.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.errors import InputError, shown
from paraphrastic.base.numbers import is_count, read_number
from paraphrastic_pipeline.base.lines import UnreadableRows, read_lines, readable_lines
from paraphrastic_pipeline.base.quoted_tables import check_columns, csv_rows
from paraphrastic_pipeline.base.row_values import (
    RowError,
    column_values,
    json_records,
    parse_rows,
    readable_text,
)
from paraphrastic_pipeline.corpus.blocks import read_blocks

# Scores that a corpus can contain, in the order of `columns`, and the names of their columns by default.
_SCORES = ("paraphrase_score", "translation_score")
_FOUND_SCORES = ("score", "translation_score")
# What stands between the cells of a table.
_SEPARATORS = {"TSV": "tab", "CSV": "comma"}
# Takes the place of the paraphrase score in `columns` if there is only a translation score.
_NO_COLUMN = "-"
# A ranking of a whole corpus holds its scores as float32.
_MAX_SCORE = float(np.finfo(np.float32).max)

Raw = TypeVar("Raw")
Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class PairRows:
    """Rows `source, target, line`, followed by one number for each of `scores`."""

    rows: Iterator[tuple[Any, ...]]
    scores: tuple[str, ...] = ()


def finite_score(value: object) -> float:
    """Convert a score, a number or its text, to a float.

    Raises:
        RowError: the score is not a number, not finite, or too large for float32.
    """
    score = math.nan
    try:
        if isinstance(value, str):
            score = read_number(value)
        elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            score = float(value)
    except OverflowError:
        pass
    except ValueError as error:
        raise RowError(f"the score {error}") from None
    if abs(score) <= _MAX_SCORE:
        return score
    cause = "is too large" if math.isfinite(score) else "is not a number"
    raise RowError(f"the score {shown(value)} {cause}")


def tsv_rows(stream: BinaryIO, label: str, columns: Sequence[str], unreadable: UnreadableRows) -> PairRows:
    """Rows of a table whose cells are separated by tabs, without quoting."""
    lines = ((number, line.split("\t")) for number, line in readable_lines(stream, label, unreadable))
    return rows_of_cells(lines, label, columns, unreadable)


def rows_of_cells(
    rows: Iterator[tuple[int, list[str]]],
    label: str,
    columns: Sequence[str],
    unreadable: UnreadableRows,
    *,
    languages: tuple[str, str] | None = None,
    kind: str = "TSV",
) -> PairRows:
    """Rows of a table from the numbers and cells of its rows.

    If no columns are named, and `languages` are given, the first row is a header if it has the names that
    JSON lines have by default, in any case.
    """
    first = next(rows, None)
    if first is None:
        return PairRows(iter(()))
    header = first[1]
    width, place, hint = len(header), f"{label}:{first[0]}", ""
    if languages and not columns:
        names = [cell.strip().lower() for cell in header]
        if chosen := _find_columns(names, languages, ()):
            columns, header = tuple(chosen[0]), names
    columns, scores = _named(columns)
    if all(map(is_count, columns)):  # also true if there are none
        rows = chain([first], rows)
        places = [int(column) - 1 for column in columns]
        if not places and width == 1:
            raise InputError(
                f"{place}: the line has no {_SEPARATORS[kind]}; a {kind} file needs one between source and "
                "target"
            )
        if not places and width > 3:
            wanted = "name those of source and target, such as `columns: [1, 2]`"
            raise InputError(f"{place}: {width} columns; {wanted}")
        if not places:
            places, scores = list(range(width)), _SCORES[: width - 2]
            hint = "; the third column is read as a score, and `columns: [1, 2]` ignores it"
        if max(places) >= width:
            raise InputError(f"{place}: {width} columns; there is no column {max(places) + 1}")
    else:
        if first[0] > 1:
            raise InputError(f"{label}:1: the header cannot be read")
        check_columns(header, columns, place)
        places = [header.index(column) for column in columns]
    source, target, *rest = places

    def parse(number: int, cells: list[str]) -> tuple[Any, ...]:
        if len(cells) != width:
            raise RowError(f"{len(cells)} columns, the first line has {width}")
        try:
            return cells[source], cells[target], number, *(finite_score(cells[place]) for place in rest)
        except RowError as error:
            raise RowError(f"{error}{hint}") from None

    return PairRows(parse_rows(rows, parse, label, unreadable), scores)


def csv_pairs(
    stream: BinaryIO,
    label: str,
    languages: tuple[str, str],
    columns: Sequence[str],
    unreadable: UnreadableRows,
) -> PairRows:
    """Rows of a CSV file, whose cells may be in quotes."""

    def rows() -> Iterator[tuple[int, list[str]]]:
        first: list[str] = []
        for number, row, cause in csv_rows(enumerate(read_lines(stream, label), start=1), first):
            if cause:
                unreadable.add(label, number, cause)
            else:
                first += [] if first else row
                # An end of a line in a cell is white space.
                yield number, [cell.replace("\n", " ") for cell in row]

    return rows_of_cells(rows(), label, columns, unreadable, languages=languages, kind="CSV")


def jsonl_rows(
    stream: BinaryIO,
    label: str,
    languages: tuple[str, str],
    columns: Sequence[str],
    unreadable: UnreadableRows,
) -> PairRows:
    """Rows of a file with one JSON object per line; empty lines are skipped."""
    records = json_records(stream, label, unreadable)
    for number, record in records:
        paths = [name for name, value in record.items() if not isinstance(value, dict)]
        if chosen := _find_columns(paths, languages, columns):
            names, scores = chosen
            absent = () if columns else tuple(name for name in _FOUND_SCORES if name not in names)
            parse = partial(_json_row, names, absent)
            return PairRows(parse_rows(chain([(number, record)], records), parse, label, unreadable), scores)
        unreadable.add(label, number, _missing(columns, languages, paths))
    return PairRows(iter(()))


def _json_row(
    names: Sequence[str], absent: Sequence[str], number: int, record: dict[str, Any]
) -> tuple[Any, ...]:
    """The row in columns `names`; `absent` scores were missing in the first record, and are errors later."""
    for name in absent:
        if not isinstance(record.get(name), dict | None):
            raise RowError(f"has a {name}, which the first record does not have")
    return _row(names, number, [record.get(name) for name in names])


def parquet_rows(
    path: Path, languages: tuple[str, str], columns: Sequence[str], unreadable: UnreadableRows
) -> PairRows:
    """Rows of a Parquet file; the line of each is its row number, from 1."""
    fields = _flattened(pq.read_schema(path).empty_table(), path).schema
    chosen = _find_columns(fields.names, languages, columns)
    if not chosen:
        raise InputError(f"{path}: {_missing(columns, languages, fields.names)}")
    names, scores = chosen
    for name in names[:2]:
        kind = fields.field(name).type
        values = kind.value_type if pa.types.is_dictionary(kind) else kind
        if values not in (pa.string(), pa.large_string(), pa.string_view()):
            raise InputError(f"{path}: the column {name!r} holds {kind}, not text")
    blocks = (pa.Table.from_batches([block]) for block in read_blocks(path, columns=names))
    tables = (_flattened(block, path) for block in blocks)
    values = ([column_values(table[name]) for name in names] for table in tables)
    rows = (row for block in values for row in zip(*block, strict=True))
    return PairRows(parse_rows(enumerate(rows, start=1), partial(_row, names), str(path), unreadable), scores)


def _row(names: Sequence[str], number: int, values: Sequence[Any]) -> tuple[Any, ...]:
    """A row `source, target, line` and scores; `names` are the columns, for messages."""
    source, target, *scores = values
    sides = (readable_text(source, names[0]), readable_text(target, names[1]))
    return *sides, number, *map(finite_score, scores)


def _named(columns: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The names in `columns`, and which scores they include."""
    scores = zip(_SCORES, columns[2:], strict=False)
    names = [column for column in columns if column != _NO_COLUMN]
    return names, tuple(score for score, column in scores if column != _NO_COLUMN)


def _find_columns(
    paths: Sequence[str], languages: tuple[str, str], columns: Sequence[str]
) -> tuple[list[str], tuple[str, ...]] | None:
    """Names of the columns for source, target and scores, and which scores; None if a side is missing."""
    if columns:
        possible = [_named(columns)]
    else:
        scores = {name: score for name, score in zip(_FOUND_SCORES, _SCORES, strict=True) if name in paths}
        sides = [("source", "target")]
        if languages[0] != languages[1]:
            sides = [languages, (f"translation.{languages[0]}", f"translation.{languages[1]}"), *sides]
        possible = [([*names, *scores], tuple(scores.values())) for names in sides]
    return next((each for each in possible if set(each[0]) <= set(paths)), None)


def _missing(columns: Sequence[str], languages: tuple[str, str], paths: Sequence[str]) -> str:
    names, _ = _named(columns)
    wanted = " and ".join(names) or f"{' and '.join(dict.fromkeys(languages))}, or source and target"
    return f"no columns {wanted}; it has {shown(', '.join(paths))}"


def _flattened(table: pa.Table, path: Path) -> pa.Table:
    """Turn every field of a nested object into a column of its own, with a dotted name."""
    while True:
        for name, count in Counter(table.column_names).items():
            if count > 1:
                raise InputError(f"{path}: has {count} columns {name!r}")
        if not any(map(pa.types.is_struct, table.schema.types)):
            return table
        table = table.flatten()
