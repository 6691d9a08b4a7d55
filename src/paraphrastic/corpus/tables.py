"""Tables of sentence pairs: TSV, JSON lines and Parquet.

Which columns hold the sides is said by their names (`columns`: one a side, and optionally one with the
paraphrase score and one with the translation score), or found in the file: columns named by the two
languages, the same within a column `translation`, or `source` and `target`; then columns `score` and
`translation_score` are the scores. Each dot in a name leads into a nested object. In TSV, columns are numbers
from 1, or names where the first line is a header; without either, there are two or three columns: source,
target, paraphrase score. The first row decides, on its scores too; a later one that is otherwise cannot be
read.
"""

import json
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import (
    HAS_NUL,
    MAX_LINE_BYTES,
    TOO_LONG,
    UnreadableRows,
    clean,
    readable_lines,
    shown,
)
from paraphrastic.corpus.blocks import open_parquet, read_blocks

# Scores that a corpus can come with, in the order of `columns`, and their columns where none are named.
_SCORES = ("paraphrase_score", "translation_score")
_FOUND_SCORES = ("score", "translation_score")
# Says in `columns` that there is no paraphrase score before a translation score.
_NO_COLUMN = "-"
# Scores are kept as float32.
_MAX_SCORE = float(np.finfo(np.float32).max)

Raw = TypeVar("Raw")
Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows `source, target, line`, and then a number for each of `scores`."""

    rows: Iterator[tuple[Any, ...]]
    scores: tuple[str, ...] = ()


class RowError(Exception):
    """A row cannot be read; the message is the cause."""


def parse_rows(
    rows: Iterable[tuple[int, Raw]],
    parse: Callable[[int, Raw], Parsed],
    label: str,
    unreadable: UnreadableRows,
) -> Iterator[Parsed]:
    """Parse numbered rows; those for which `parse` raises a `RowError` are noted as unreadable."""
    for number, row in rows:
        try:
            parsed = parse(number, row)
        except RowError as error:
            unreadable.add(label, number, str(error))
        else:
            yield parsed


def split_cells(line: str, widths: Sequence[int], expected: str) -> list[str]:
    """The cells of a line; unless their number is one of `widths`, a `RowError` says what is `expected`."""
    cells = line.split("\t")
    if len(cells) not in widths:
        raise RowError(f"{len(cells)} columns, {expected}")
    return cells


def finite_score(value: object) -> float:
    """A score as a number that float32 holds.

    Raises:
        RowError: it is not a number, not finite, or too large.
    """
    try:
        score = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if abs(score) <= _MAX_SCORE:
        return score
    cause = "is too large" if math.isfinite(score) else "is not a number"
    raise RowError(f"the score {shown(value)} {cause}")


def tsv_rows(stream: BinaryIO, label: str, columns: Sequence[str], unreadable: UnreadableRows) -> Rows:
    """Rows of a table whose cells are separated by tabs, without quoting."""
    lines = readable_lines(stream, label, unreadable)
    first = next(lines, None)
    if first is None:
        return Rows(iter(()))
    header = first[1].split("\t")
    width, place = len(header), f"{label}:{first[0]}"
    columns, scores = _named(columns)
    if all(column.isdecimal() for column in columns):  # also where none are named
        lines = chain([first], lines)
        places = [int(column) - 1 for column in columns]
        if not places and width not in (2, 3):
            raise InputError(f"{place}: {width} columns: say which ones are source and target")
        if not places:
            places, scores = list(range(width)), _SCORES[: width - 2]
        if max(places) >= width:
            raise InputError(f"{place}: {width} columns, there is no column {max(places) + 1}")
    else:
        if missing := [column for column in columns if column not in header]:
            names = ", ".join(map(shown, header))
            raise InputError(f"{place}: no column {shown(missing[0])}; the header has {names}")
        places = [header.index(column) for column in columns]
    source, target, *rest = places

    def parse(number: int, line: str) -> tuple[Any, ...]:
        cells = split_cells(line, (width,), f"the first line has {width}")
        return cells[source], cells[target], number, *(finite_score(cells[place]) for place in rest)

    return Rows(parse_rows(lines, parse, label, unreadable), scores)


def jsonl_rows(
    stream: BinaryIO,
    label: str,
    languages: tuple[str, str],
    columns: Sequence[str],
    unreadable: UnreadableRows,
) -> Rows:
    """Rows of a file with one JSON object a line; empty lines are no rows."""
    lines = (line for line in readable_lines(stream, label, unreadable) if line[1].strip())
    records = parse_rows(lines, _parse_json, label, unreadable)
    for number, record in records:
        if found := _find_columns(_paths(record), languages, columns):
            names, scores = found
            absent = () if columns else tuple(name for name in _FOUND_SCORES if name not in names)
            parse = partial(_json_row, names, absent)
            return Rows(parse_rows(chain([(number, record)], records), parse, label, unreadable), scores)
        unreadable.add(label, number, _missing(columns, languages, _paths(record)))
    return Rows(iter(()))


def _parse_json(number: int, line: str) -> tuple[int, dict[str, Any]]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise RowError(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError):
        raise RowError("not JSON: nested too deeply, or a number too long") from None
    if not isinstance(record, dict):
        raise RowError("not a JSON object")
    return number, record


def _json_row(
    names: Sequence[str], absent: Sequence[str], number: int, record: dict[str, Any]
) -> tuple[Any, ...]:
    """The row of `names`; a record with a score of `absent`, which the first one has not, cannot be read."""
    for name in absent:
        if not isinstance(record.get(name), dict | None):
            raise RowError(f"a {name}, which the first record has not")
    return _row(names, number, [_value(record, name) for name in names])


def parquet_rows(
    path: Path, languages: tuple[str, str], columns: Sequence[str], unreadable: UnreadableRows
) -> Rows:
    """Rows of a Parquet file; their lines are the numbers of its rows, from 1."""
    with open_parquet(path) as file:
        fields = _flattened(file.schema_arrow.empty_table(), path).schema
    found = _find_columns(fields.names, languages, columns)
    if not found:
        raise InputError(f"{path}: {_missing(columns, languages, fields.names)}")
    names, scores = found
    for name in names[:2]:
        kind = fields.field(name).type
        if not _is_text(kind):
            raise InputError(f"{path}: the column {name!r} holds {kind}, not text")
    blocks = (pa.Table.from_batches([block]) for block in read_blocks(path, columns=names))
    tables = (_flattened(block, path) for block in blocks)
    values = (row for table in tables for row in zip(*(_values(table[name]) for name in names), strict=True))
    return Rows(parse_rows(enumerate(values, start=1), partial(_row, names), str(path), unreadable), scores)


def _row(names: Sequence[str], number: int, values: Sequence[Any]) -> tuple[Any, ...]:
    """A row of source, target and perhaps scores, whose columns are called `names`."""
    source, target, *scores = values
    sides = (_readable_text(source, names[0]), _readable_text(target, names[1]))
    return *sides, number, *map(finite_score, scores)


def _readable_text(value: object, name: str) -> str:
    """Text with a space for every control character, as `read_lines` has it."""
    if isinstance(value, UnicodeDecodeError):
        raise RowError(f"{name}: not UTF-8: byte 0x{value.object[value.start]:02x}")
    if not isinstance(value, str):
        raise RowError(f"{name}: is missing" if value is None else f"{name}: {shown(value)} is not text")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise RowError(f"{name}: half of a surrogate pair")
    if "\0" in value:
        raise RowError(f"{name}: {HAS_NUL}")
    # No character has more than four bytes.
    if len(value) > MAX_LINE_BYTES // 4 and len(value.encode()) > MAX_LINE_BYTES:
        raise RowError(f"{name}: {TOO_LONG}")
    return clean(value)


def _named(columns: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The columns that `columns` names, and the scores among them."""
    scores = zip(_SCORES, columns[2:], strict=False)
    names = [column for column in columns if column != _NO_COLUMN]
    return names, tuple(score for score, column in scores if column != _NO_COLUMN)


def _find_columns(
    paths: Sequence[str], languages: tuple[str, str], columns: Sequence[str]
) -> tuple[list[str], tuple[str, ...]] | None:
    """Names of the columns of source, target and scores, and these scores; None without the sides."""
    if columns:
        names, named_scores = _named(columns)
        return (names, named_scores) if set(names) <= set(paths) else None
    candidates = [("source", "target")]
    if languages[0] != languages[1]:
        nested = (f"translation.{languages[0]}", f"translation.{languages[1]}")
        candidates = [languages, nested, *candidates]
    found = next((names for names in candidates if set(names) <= set(paths)), None)
    if not found:
        return None
    scores = {name: score for name, score in zip(_FOUND_SCORES, _SCORES, strict=True) if name in paths}
    return [*found, *scores], tuple(scores.values())


def _missing(columns: Sequence[str], languages: tuple[str, str], paths: Sequence[str]) -> str:
    names, _ = _named(columns)
    wanted = " and ".join(names) or f"{' and '.join(dict.fromkeys(languages))}, or source and target"
    return f"no columns {wanted}; it has {shown(', '.join(paths))}"


def _paths(record: dict[str, Any]) -> list[str]:
    """Names of an object's entries; those of an object in it follow a dot."""
    paths = []
    # Not by recursion: JSON may be nested as deeply as Python's stack.
    waiting = deque([("", record)])
    while waiting:
        prefix, entries = waiting.popleft()
        for key, value in entries.items():
            if isinstance(value, dict):
                waiting.append((f"{prefix}{key}.", value))
            else:
                paths.append(prefix + key)
    return paths


def _value(record: dict[str, Any], name: str) -> Any:
    """The entry called `name` as by `_paths`, or None; a key may have dots of its own."""
    if name in record:
        return record[name]
    for dot, character in enumerate(name):
        inner = record.get(name[:dot]) if character == "." else None
        if isinstance(inner, dict) and (value := _value(inner, name[dot + 1 :])) is not None:
            return value
    return None


def _flattened(table: pa.Table, path: Path) -> pa.Table:
    """The table with the columns of an object each as a column, whose name follows a dot."""
    while True:
        for name, count in Counter(table.column_names).items():
            if count > 1:
                raise InputError(f"{path}: has {count} columns {name!r}")
        if not any(map(pa.types.is_struct, table.schema.types)):
            return table
        table = table.flatten()


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return kind in (pa.string(), pa.large_string(), pa.string_view())


def _values(column: pa.ChunkedArray) -> list[Any]:
    """A column's values; one that is not UTF-8 is the error that says so."""
    try:
        return column.to_pylist()
    except UnicodeDecodeError:
        return [_decoded(value) for value in column]


def _decoded(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError as error:
        return error
