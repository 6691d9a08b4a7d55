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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

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
from paraphrastic.corpus.blocks import BLOCK_ROWS, open_parquet, read_blocks

# Scores that a corpus can come with, in the order of `columns`, and their columns where none are named.
_SCORES = ("paraphrase_score", "translation_score")
_FOUND_SCORES = ("score", "translation_score")
# Says in `columns` that there is no paraphrase score before a translation score.
_NO_COLUMN = "-"
# Scores are kept as float32.
_MAX_SCORE = float(np.finfo(np.float32).max)

# Keys that lead to a column, from the outermost one.
_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows `source, target, line`, and then a number for each of `scores`."""

    rows: Iterator[tuple[Any, ...]]
    scores: tuple[str, ...] = ()


def finite_score(value: object, label: str, line: int, unreadable: UnreadableRows) -> float | None:
    """A score as a number; None, with the row noted as unreadable, where it is none that float32 holds."""
    try:
        score = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if abs(score) <= _MAX_SCORE:
        return score
    cause = "is too large" if math.isfinite(score) else "is not a number"
    unreadable.add(label, line, f"the score {shown(value)} {cause}")
    return None


def tsv_rows(stream: BinaryIO, label: str, columns: Sequence[str], unreadable: UnreadableRows) -> Rows:
    """Rows of a table whose cells are parted by tabs, without quoting."""
    lines = readable_lines(stream, label, unreadable)
    first = next(lines, None)
    if first is None:
        return Rows(iter(()))
    header = first[1].split("\t")
    scores = _named_scores(columns)
    columns = _without_gaps(columns)
    if not columns:
        if len(header) not in (2, 3):
            raise InputError(
                f"{label}:{first[0]}: {len(header)} columns: say which ones are source and target"
            )
        places = list(range(len(header)))
        scores = _SCORES[: len(places) - 2]
    elif all(column.isdecimal() for column in columns):
        places = [int(column) - 1 for column in columns]
        if max(places) >= len(header):
            raise InputError(
                f"{label}:{first[0]}: {len(header)} columns, there is no column {max(places) + 1}"
            )
    else:
        missing = [column for column in columns if column not in header]
        if missing:
            names = ", ".join(map(shown, header))
            raise InputError(f"{label}:{first[0]}: no column {shown(missing[0])}; the header has {names}")
        places = [header.index(column) for column in columns]
        return Rows(_tsv_rows(lines, label, places, len(header), unreadable), scores)
    return Rows(_tsv_rows(chain([first], lines), label, places, len(header), unreadable), scores)


def _tsv_rows(
    lines: Iterator[tuple[int, str]],
    label: str,
    places: Sequence[int],
    width: int,
    unreadable: UnreadableRows,
) -> Iterator[tuple[Any, ...]]:
    source, target, *scores = places
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) != width:
            unreadable.add(label, number, f"{len(cells)} columns, the first line has {width}")
        elif (found := _scores([cells[place] for place in scores], label, number, unreadable)) is not None:
            yield cells[source], cells[target], number, *found


def jsonl_rows(
    stream: BinaryIO,
    label: str,
    languages: tuple[str, str],
    columns: Sequence[str],
    unreadable: UnreadableRows,
) -> Rows:
    """Rows of a file with one JSON object a line; empty lines are no rows."""
    records = _json_records(stream, label, unreadable)
    for number, record in records:
        if found := _find_columns(_paths(record), languages, columns):
            names, scores = found
            rest = chain([(number, record)], records)
            absent = () if columns else tuple(name for name in _FOUND_SCORES if name not in names)
            return Rows(_json_rows(rest, label, names, absent, unreadable), scores)
        unreadable.add(label, number, _missing(columns, languages, _paths(record)))
    return Rows(iter(()))


def _json_records(
    stream: BinaryIO, label: str, unreadable: UnreadableRows
) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in readable_lines(stream, label, unreadable):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            unreadable.add(label, number, f"not JSON: {error.msg} at character {error.pos + 1}")
            continue
        except (ValueError, RecursionError):
            unreadable.add(label, number, "not JSON: nested too deeply, or a number too long")
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            unreadable.add(label, number, "not a JSON object")


def _json_rows(
    records: Iterator[tuple[int, dict[str, Any]]],
    label: str,
    names: Sequence[str],
    absent: Sequence[str],
    unreadable: UnreadableRows,
) -> Iterator[tuple[Any, ...]]:
    """Rows of `names`; one that has a score of `absent`, which the first one has not, cannot be read."""
    for number, record in records:
        late = [name for name in absent if not isinstance(record.get(name), dict | None)]
        if late:
            unreadable.add(label, number, f"a {late[0]}, which the first record has not")
        elif row := _row([_value(record, name) for name in names], names, label, number, unreadable):
            yield row


def parquet_rows(
    path: Path, languages: tuple[str, str], columns: Sequence[str], unreadable: UnreadableRows
) -> Rows:
    """Rows of a Parquet file; their lines are the numbers of its rows, from 1."""
    with open_parquet(path) as file:
        fields = list(_fields(file.schema_arrow))
    for name, count in Counter(".".join(keys) for keys, _ in fields).items():
        if count > 1:
            raise InputError(f"{path}: has {count} columns {name!r}")
    leaves = {".".join(keys): (keys, kind) for keys, kind in fields if not pa.types.is_struct(kind)}
    found = _find_columns(list(leaves), languages, columns)
    if not found:
        raise InputError(f"{path}: {_missing(columns, languages, list(leaves))}")
    names, scores = found
    for name in names[:2]:
        _, kind = leaves[name]
        if not _is_text(kind):
            raise InputError(f"{path}: the column {name!r} holds {kind}, not text")
    return Rows(_parquet_rows(path, {name: leaves[name][0] for name in names}, unreadable), scores)


def _parquet_rows(
    path: Path, columns: Mapping[str, _Path], unreadable: UnreadableRows
) -> Iterator[tuple[Any, ...]]:
    """Rows of `columns`, each by its name and the keys that lead to it."""
    number = 0
    names = list(columns)
    for block in read_blocks(path, columns=names, rows=BLOCK_ROWS):
        for values in zip(*(_values(block, keys) for keys in columns.values()), strict=True):
            number += 1
            if row := _row(values, names, str(path), number, unreadable):
                yield row


def _row(
    values: Sequence[Any], names: Sequence[str], label: str, number: int, unreadable: UnreadableRows
) -> tuple[Any, ...] | None:
    """A row of source, target and perhaps scores; None, with the row noted, where it cannot be read."""
    for name, value in zip(names, values[:2], strict=False):
        if fault := _text_fault(value):
            unreadable.add(label, number, f"{name}: {fault}")
            return None
    scores = _scores(values[2:], label, number, unreadable)
    return None if scores is None else (clean(values[0]), clean(values[1]), number, *scores)


def _scores(
    values: Sequence[object], label: str, number: int, unreadable: UnreadableRows
) -> list[float] | None:
    """A row's scores; None, with the row noted, where one of them is no number."""
    scores = []
    for value in values:
        if (score := finite_score(value, label, number, unreadable)) is None:
            return None
        scores.append(score)
    return scores


def _text_fault(value: object) -> str | None:
    if value is None:
        return "is missing"
    if isinstance(value, UnicodeDecodeError):
        return f"not UTF-8: byte 0x{value.object[value.start]:02x}"
    if not isinstance(value, str):
        return f"{shown(value)} is not text"
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        return "half of a surrogate pair"
    if "\0" in value:
        return HAS_NUL
    # No character has more than four bytes.
    if len(value) > MAX_LINE_BYTES // 4 and len(value.encode()) > MAX_LINE_BYTES:
        return TOO_LONG
    return None


def _named_scores(columns: Sequence[str]) -> tuple[str, ...]:
    """The scores that `columns` names."""
    return tuple(score for score, column in zip(_SCORES, columns[2:], strict=False) if column != _NO_COLUMN)


def _without_gaps(columns: Sequence[str]) -> list[str]:
    return [column for column in columns if column != _NO_COLUMN]


def _find_columns(
    paths: Sequence[str], languages: tuple[str, str], columns: Sequence[str]
) -> tuple[list[str], tuple[str, ...]] | None:
    """Names of the columns of source, target and scores, and these scores; None without the sides."""
    if columns:
        names = _without_gaps(columns)
        return (names, _named_scores(columns)) if set(names) <= set(paths) else None
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
    wanted = (
        " and ".join(_without_gaps(columns))
        or f"{' and '.join(dict.fromkeys(languages))}, or source and target"
    )
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


def _fields(fields: Iterable[pa.Field], outer: _Path = ()) -> Iterator[tuple[_Path, pa.DataType]]:
    """All columns, and those within them, by the keys that lead to them."""
    for field in fields:
        keys = (*outer, field.name)
        yield keys, field.type
        if pa.types.is_struct(field.type):
            yield from _fields(field.type, keys)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _values(block: pa.RecordBatch, keys: _Path) -> list[Any]:
    """A column's values; one that is not UTF-8 is the error that says so."""
    column = block[keys[0]]
    for key in keys[1:]:
        column = column.flatten()[column.type.get_field_index(key)]
    try:
        return column.to_pylist()
    except UnicodeDecodeError:
        return [_decoded(value) for value in column]


def _decoded(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError as error:
        return error
