"""The values of rows: text that can be read, JSON objects, and the columns of Arrow."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, TypeVar

from paraphrastic.base.errors import shown
from paraphrastic.base.text import clean
from paraphrastic_pipeline.base.lines import HAS_NUL, MAX_LINE_BYTES, TOO_LONG, UnreadableRows, readable_lines

Raw = TypeVar("Raw")
Parsed = TypeVar("Parsed")


class RowError(Exception):
    """A row cannot be read; the message is the cause."""


def parse_rows(
    rows: Iterable[tuple[int, Raw]],
    parse: Callable[[int, Raw], Parsed],
    label: str,
    unreadable: UnreadableRows,
) -> Iterator[Parsed]:
    """Parse numbered rows; a row for which `parse` raises a `RowError` is noted as unreadable."""
    for number, row in rows:
        try:
            parsed = parse(number, row)
        except RowError as error:
            unreadable.add(label, number, str(error))
        else:
            yield parsed


def split_cells(line: str, widths: Sequence[int], expected: str) -> list[str]:
    """Split a line at tabs; if the cell count is not in `widths`, a `RowError` says what is `expected`."""
    cells = line.split("\t")
    if len(cells) not in widths:
        raise RowError(f"{len(cells)} columns, {expected}")
    return cells


def json_records(
    stream: BinaryIO, label: str, unreadable: UnreadableRows
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of lines, by `with_nested`, with their numbers; empty lines are skipped."""
    lines = (line for line in readable_lines(stream, label, unreadable) if line[1].strip())
    return parse_rows(lines, _flat_record, label, unreadable)


def _flat_record(number: int, line: str) -> tuple[int, dict[str, Any]]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise RowError(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError):
        raise RowError("not JSON: nested too deeply, or a number too long") from None
    return number, with_nested(record)


def with_nested(record: Any) -> dict[str, Any]:
    """Add the nested entries of a JSON object to it, under dotted names."""
    if not isinstance(record, dict):
        raise RowError("not a JSON object")
    # A queue instead of recursion, since JSON may be nested as deeply as Python's stack allows.
    waiting = deque((f"{key}.", value) for key, value in record.items() if isinstance(value, dict))
    while waiting:
        prefix, entries = waiting.popleft()
        for key, value in entries.items():
            if isinstance(value, dict):
                waiting.append((f"{prefix}{key}.", value))
            else:
                record.setdefault(prefix + key, value)
    return record


def readable_text(value: object, name: str) -> str:
    """Check a cell's text, and replace its control characters by spaces, like `read_lines`."""
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


def are_plain(values: Sequence[Any]) -> bool:
    """Whether `readable_text` would return all of these values as they are."""
    try:
        whole = "".join(values)
    except TypeError:
        return False
    # Half of a surrogate pair is not encodable, and does not occur in a column of Arrow.
    return clean(whole) == whole and len(max(values, key=len, default="")) <= MAX_LINE_BYTES // 4


def column_values(column: Any) -> list[Any]:
    """The values of a column of Arrow; a value that is not UTF-8 is replaced by its `UnicodeDecodeError`."""
    try:
        return column.to_pylist()
    except UnicodeDecodeError:
        return [_decoded(value) for value in column]


def _decoded(value: Any) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError as error:
        return error
