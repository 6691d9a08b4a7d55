"""Tables with a header whose cells may be in quotes: CSV and TSV."""

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import BinaryIO

from paraphrastic.base.errors import InputError, cut, shown
from paraphrastic_pipeline.base.lines import Undecodable, UnreadableRows, read_lines

# No sentence is as long; a quote that is never closed must not swallow the rest of a file.
_MAX_CELL, _MAX_LINES = 1 << 20, 1000
# If at least so many lines inside a row could be rows themselves, a quote has swallowed them.
_SWALLOWED = 3

# Where the decimal sign is a comma, spreadsheets write semicolons between cells. The first lines tell.
_FIRST_LINES = 20

_Line = tuple[int, str | Undecodable]


class TableRow(dict[str, str]):
    """The cells of a row by column.

    Attributes:
        height: how many lines the row has, whose cells may have ends of lines in quotes.
    """

    height = 1


def table_rows(
    stream: BinaryIO,
    label: str,
    separator: str,
    wanted: Sequence[str],
    unreadable: UnreadableRows,
    *,
    has_header: bool = True,
) -> Iterator[tuple[int, "TableRow"]]:
    """The rows of a table by column, with the numbers of their first lines.

    A cell in quotes may hold separators and doubled quotes, and in CSV also the ends of lines. In TSV it may
    not, since many such files have single quotes of both kinds. Without a header, the columns are numbered
    from 1, and the first row says how many there are.

    Raises:
        InputError: the header cannot be read, or a wanted column is missing there or occurs twice.
    """
    header: list[str] = []

    reader = _tsv_rows if separator == "\t" else csv_rows
    for number, row, cause in reader(enumerate(read_lines(stream, label), start=1), header):
        if cause:
            if has_header and not header:
                raise InputError(f"{label}:{number}: the header cannot be read: {cause}")
            unreadable.add(label, number, cause if has_header else cause.replace("header", "first row"))
            continue
        if not header:
            header += row if has_header else map(str, range(1, len(row) + 1))
            check_columns(header, wanted, label if has_header else f"{label}:{number}")
            if has_header:
                continue
        found = TableRow(zip(header, row, strict=True))
        found.height = 1 + sum(cell.count("\n") for cell in row)
        yield number, found
    if has_header and not header:
        check_columns(header, wanted, label)


def check_columns(header: Sequence[str], wanted: Sequence[str], place: str) -> None:
    """Raise an `InputError` if a header lacks a wanted column, or has it twice."""
    for column in wanted:
        if (count := header.count(column)) != 1:
            number = f"{count} columns" if count else "no column"
            names = cut(", ".join(map(shown, header))) or "nothing"
            raise InputError(f"{place}: {number} {shown(column)}; the header has {names}")


def csv_separator(lines: Sequence[str]) -> str:
    """What stands between the cells of a CSV file that begins with these lines: a comma or a semicolon."""
    is_even = {}
    for separator in ",;":
        rows = csv.reader((f"{line}\n" for line in lines), delimiter=separator)
        widths = []
        with suppress(csv.Error):
            widths += [len(row) for row in rows if row]
        # The last row may go on after these lines.
        is_even[separator] = len({*(widths[:-1] or widths)}) == 1 and widths[0] > 1
    return ";" if is_even[";"] and not is_even[","] else ","


def _tsv_rows(lines: Iterator[_Line], header: Sequence[str]) -> Iterator[tuple[int, list[str], str]]:
    """Numbers and rows, or the cause why there is none; `header` is empty until the first row was read."""
    for number, line in lines:
        if isinstance(line, Undecodable):
            yield number, [], line.cause
            continue
        row = [_unquoted(cell) for cell in line.split("\t")]
        if header and len(row) > len(header) and '"' in line:
            row = _quoted(line, len(header)) or row
        yield number, row, _other_width(row, header)


def _quoted(line: str, width: int) -> list[str] | None:
    """The cells of a line whose quotes are those of CSV, if there are `width` of them."""
    try:
        (row,) = csv.reader([line], delimiter="\t", strict=True)
    except csv.Error:
        return None
    return row if len(row) == width else None


def _unquoted(cell: str) -> str:
    inside = cell[1:-1]
    if len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inside.replace('""', ""):
        return inside.replace('""', '"')
    return cell


def csv_rows(source: Iterator[_Line], header: Sequence[str]) -> Iterator[tuple[int, list[str], str]]:
    """Numbers and rows as in `_tsv_rows`.

    A quote that is never closed swallows everything up to the next quote. So if a row of several lines is not
    right, and is no CSV or has lines that may be rows, only its first line is unreadable, and the others are
    read again.
    """
    waiting = deque(islice(source, _FIRST_LINES))
    separator = csv_separator([line for _, line in waiting if isinstance(line, str)])
    read: list[_Line] = []
    faults: list[tuple[int, str]] = []

    def lines() -> Iterator[str]:
        while numbered := waiting.popleft() if waiting else next(source, None):
            read.append(numbered)
            if len(read) > _MAX_LINES:
                raise csv.Error(f"a quote is not closed within {_MAX_LINES} lines")
            number, line = numbered
            if isinstance(line, Undecodable):
                # Its quotes still belong to the row.
                faults.append((number, line.cause))
                line = line.text
            yield f"{line}\n"

    csv.field_size_limit(_MAX_CELL)
    reader = csv.reader(lines(), delimiter=separator, strict=True)
    while True:
        read.clear()
        faults.clear()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            row, cause, again = [], f"not CSV: {error}", True
        else:
            cause = _other_width(row, header) if row else ""
            again = any(_may_be_row(line, len(header), separator) for _, line in read[1:])
            if not cause and len(read) > _SWALLOWED:
                cause = _swallowed(read, header, separator)
        number = read[0][0]
        if cause and again and len(read) > 1:
            waiting.extendleft(reversed(read[1:]))
            reader = csv.reader(lines(), delimiter=separator, strict=True)
        elif faults:
            number, cause = faults[0]
        if cause or row:
            yield number, row, cause


def _other_width(row: Sequence[str], header: Sequence[str]) -> str:
    return f"{len(row)} columns, the header has {len(header)}" if len(row) != len(header) and header else ""


def _may_be_row(line: str | Undecodable, width: int, separator: str) -> bool:
    """Whether a line inside a cell may be a row of so many cells, all of whose quotes are in it."""
    text = line.text if isinstance(line, Undecodable) else line
    return text.count(separator) >= width - 1 and text.count('"') % 2 == 0


def _swallowed(read: Sequence[_Line], header: Sequence[str], separator: str) -> str:
    """The cause if most of the lines after a row's first one look like rows themselves."""
    lines = [line.text if isinstance(line, Undecodable) else line for _, line in read[1:]]
    # In prose, a space follows a comma; between cells, it does so everywhere or hardly at all.
    is_spaced = any(name.startswith(" ") for name in header)
    rows = sum(
        line.count(separator) == len(header) - 1 and (is_spaced or f"{separator} " not in line)
        for line in lines
    )
    swallowed = len(header) > 1 and rows >= _SWALLOWED and 2 * rows > len(lines)
    return "not CSV: a cell in quotes holds other rows" if swallowed else ""
