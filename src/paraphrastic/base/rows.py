"""Rows of text from lines, aligned files and tables: CSV, tab-separated text, JSON lines and Parquet.

An empty or missing cell is an empty text in every format, and ids are text or whole numbers.
"""

import csv
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice, zip_longest
from operator import not_
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow.parquet import ParquetFile

from paraphrastic.base.errors import InputError, cut, on_one_line, shown
from paraphrastic.base.text_files import COMPRESSED_SUFFIXES, fault_of, line_batches, open_text

# Kinds of tables by the ending of a file's name; for those with separators, the separator.
KINDS = {".csv": ",", ".tsv": "\t", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
# Rows that are read at a time.
BATCH_ROWS = 2048
# A cell may be a whole document.
csv.field_size_limit(1 << 31)

# The first and the last line of a row, from 1; and its values, or why it cannot be read.
_Row = tuple[int, int, Any]


class BadRow(NamedTuple):
    """A row that cannot be read: its file, its first and last line from 1, and the cause."""

    path: str
    first: int
    last: int
    cause: str

    def __str__(self) -> str:
        return f"{self.path}:{self.first}: {self.cause}"


class Batch(NamedTuple):
    """Rows that follow one another.

    Attributes:
        ids: what tells each row apart: its number from 1, or the value of a column. [n]
        columns: the texts, a list of n for each column.
        first: the first line of each row, from 1; in Parquet, its number. [n]
        last: its last line. [n]
    """

    ids: Sequence[int | str]
    columns: list[list[str]]
    first: Sequence[int]
    last: Sequence[int]


@dataclass(frozen=True, slots=True)
class Source:
    """Where rows come from.

    Attributes:
        path: the file, plain or compressed; `-` is standard input. The ending of its name says whether it is
            a table.
        columns: the names of the table's columns with the texts, or their numbers, from 1, if it has no
            header. With none, a table has as many columns as there are texts, and a line is split at tabs.
        id: the column that tells rows apart; None for their numbers.
        second: a text file whose lines stand beside those of `path`.
        texts: how many texts a row has.
        on_bad: is told about each row that cannot be read, which is left out; None makes it an error.
        opened: the file to open, if it is not the one that messages name.
    """

    path: str
    columns: Sequence[str] = ()
    id: str | None = None
    second: str | None = None
    texts: int = 1
    on_bad: Callable[[BadRow], None] | None = None
    opened: str | None = None

    @property
    def kind(self) -> str | None:
        """The kind of table, a value of `KINDS`; None for lines.

        Raises:
            InputError: columns are named, but the file is read line by line.
        """
        kind = kind_of(self.path)
        if self.second is not None:
            for path in (self.path, self.second):
                if kind_of(path) or self.columns or self.id:
                    raise InputError(f"{path}: two files have one sentence on each line, and no columns")
            return None
        if kind is None and (self.columns or self.id):
            raise InputError(
                f"{self.path}: is read line by line; the name of a table ends in {', '.join(KINDS)}"
            )
        if self.id and not self.columns:
            raise InputError(f"{self.path}: name the column with the text, too, not only {shown(self.id)}")
        # Texts with tabs between them need no header.
        return None if kind == "\t" and self.texts > 1 and not self.columns else kind

    def batches(self, size: int = BATCH_ROWS) -> Iterator[Batch]:
        """Yield the rows, at most `size` at a time.

        Raises:
            InputError: the file cannot be read or lacks a column; or a row cannot be read, and there is no
                `on_bad`.
        """
        if self.kind is None and self.texts == 1 and self.second is None:

            def bad(line: int, cause: str) -> None:
                self.reject(BadRow(self.path, line, line, cause))

            for numbers, lines in line_batches(self._file, size, bad):
                yield Batch(numbers, [lines], numbers, numbers)
        elif self.kind == "parquet":
            yield from self._parquet(size)
        else:
            yield from self._gathered(size)

    @property
    def _file(self) -> str:
        return self.opened or self.path

    def reject(self, row: BadRow) -> None:
        """Leave out a row that cannot be read, or raise an `InputError` if there is no `on_bad`."""
        if self.on_bad is None:
            raise InputError(str(row))
        self.on_bad(row)

    def _gathered(self, size: int) -> Iterator[Batch]:
        """Rows of any other file, which are read one by one."""
        read = {None: self._lines, "json": self._json}.get(self.kind, self._table)
        rows = enumerate(read() if self.second is None else self._beside(), start=1)
        while some := list(islice(rows, size)):
            good = []
            for number, (first, last, values) in some:
                faults = [values] if isinstance(values, str) else map(fault_of, map(str, values))
                if fault := next(filter(None, faults), None):
                    self.reject(BadRow(self.path, first, last, fault))
                else:
                    name = values[self.texts] if self.id else number
                    good.append((name, map(str, values[: self.texts]), first, last))
            if good:
                ids, texts, firsts, lasts = zip(*good, strict=True)
                yield Batch(ids, [list(column) for column in zip(*texts, strict=True)], firsts, lasts)

    def _lines(self) -> Iterator[_Row]:
        """Lines with several texts between tabs; blank ones at the end of the file do not count."""
        with open_text(self._file) as file:
            blank: list[_Row] = []
            for number, line in enumerate(file, start=1):
                cells = line.rstrip("\n").removesuffix("\r").split("\t")
                expected = f"{len(cells)} columns, where {self.texts} are expected"
                row = number, number, cells if len(cells) == self.texts else expected
                if line.strip():
                    yield from [*blank, row]
                    blank.clear()
                else:
                    blank.append(row)

    def _beside(self) -> Iterator[_Row]:
        """The lines of two files, side by side."""
        paths = self._file, str(self.second)
        with open_text(paths[0]) as first, open_text(paths[1]) as second:
            for number, lines in enumerate(zip_longest(first, second), start=1):
                if None in lines:
                    longer, shorter = paths if lines[1] is None else reversed(paths)
                    raise InputError(f"{longer} has a line {number}, but {shorter} does not")
                texts = [line.rstrip("\n").removesuffix("\r").replace("\t", " ") for line in lines]
                if cause := fault_of(texts[1]):
                    self.reject(BadRow(paths[1], number, number, cause))
                else:
                    yield number, number, texts

    def _json(self) -> Iterator[_Row]:
        columns, seen = list[str](), dict[str, None]()
        with open_text(self._file) as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                try:
                    record = json.loads(line)
                    if not isinstance(record, dict):
                        raise ValueError("not a JSON object")
                    columns = columns or (self._asked() if self.columns else self._wanted([*record]))
                    seen |= dict.fromkeys(record)
                    values: list[Any] | str = [_member(record, name) for name in columns]
                except (json.JSONDecodeError, RecursionError) as error:
                    values = f"not JSON: {error}"
                except ValueError as error:
                    values = str(error)
                yield number, number, values
        if columns:
            # A member may be missing somewhere, but not everywhere.
            self._wanted([*seen])

    def _table(self) -> Iterator[_Row]:
        """The rows of CSV and of tab-separated text with a header, or with columns that have numbers."""
        with open_text(self._file) as file:
            beginning = next(file, "")
            lines = chain([beginning], file)
            asked = self._asked()
            # Where the decimal sign is a comma, spreadsheets write semicolons between cells.
            marks = "\t" if self.kind == "\t" else ",;"
            tops = {mark: next(_separated_rows(iter([beginning]), mark), _NO_ROW)[2] for mark in marks}
            cells_of = {
                mark: beginning.split(mark) if isinstance(top, str) else top for mark, top in tops.items()
            }
            mark = max(marks, key=lambda mark: (set(asked) <= set(cells_of[mark]), len(cells_of[mark])))
            rows = _separated_rows(lines, mark, len(cells_of[mark]) if mark == "\t" else 0)
            top = next(rows, _NO_ROW)
            rows, header = chain([top], rows), top[2]
            if isinstance(header, str):
                raise InputError(f"{self.path}:{top[0]}: {header}")
            are_numbers = all(name.isdecimal() and 0 < int(name) <= len(header) for name in asked)
            has_header = not asked or not are_numbers or set(asked) <= set(header)
            if has_header:
                indices = [header.index(name) for name in self._wanted(header)]
            else:
                indices = [int(name) - 1 for name in asked]
            for number, (first, last, cells) in enumerate(rows):
                if has_header and number == 0:
                    continue
                if not isinstance(cells, str) and len(cells) != len(header):
                    cells = f"{len(cells)} columns, the first row has {len(header)}"
                yield first, last, cells if isinstance(cells, str) else [cells[index] for index in indices]

    def _parquet(self, size: int) -> Iterator[Batch]:
        if self.path == "-" or not Path(self._file).is_file():
            raise InputError(f"{self.path}: is not a file, and Parquet cannot be read from a pipe")
        number = 1
        try:
            with ParquetFile(self._file) as file:
                wanted = self._wanted(file.schema_arrow.empty_table().flatten().column_names)
                for block in file.iter_batches(size, columns=list(dict.fromkeys(wanted))):
                    batch = pa.Table.from_batches([block]).flatten()
                    rows = range(number, number + len(batch))
                    texts = [_texts_of(batch.column(name), name) for name in wanted[: self.texts]]
                    ids = _ids_of(batch.column(self.id), self.id) if self.id else rows
                    good = [not any("\0" in text for text in row) for row in zip(*texts, strict=True)]
                    for row in compress(rows, map(not_, good)):
                        self.reject(BadRow(self.path, row, row, str(fault_of("\0"))))
                    texts = [[*compress(column, good)] for column in texts]
                    kept = [*compress(rows, good)]
                    yield Batch([*compress(ids, good)], texts, kept, kept)
                    number = rows.stop
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(f"{self.path}: cannot be read: {on_one_line(error)}") from None

    def _asked(self, default: Sequence[str] = ()) -> list[str]:
        return [*(self.columns or default), *([self.id] if self.id else [])]

    def _wanted(self, header: Sequence[str]) -> list[str]:
        """The names of the columns to read; the id comes last."""
        if not self.columns and len(header) != self.texts:
            raise InputError(
                f"{self.path}: is a table; say which of its columns has the text: {_names(header)}"
            )
        for name in (wanted := self._asked(header)):
            is_nested = kind_of(self.path) == "json" and "." in name
            if (count := list(header).count(name)) != 1 and not is_nested:
                number = f"{count} columns" if count else "no column"
                raise InputError(f"{self.path}: {number} {shown(name)}; the header has {_names(header)}")
        return wanted


_NO_ROW: _Row = (1, 1, [])


def kind_of(path: str | Path) -> str | None:
    """The kind of table that a file's name says it is; None for lines."""
    name = PurePath(path)
    return KINDS.get((name.with_suffix("") if name.suffix in COMPRESSED_SUFFIXES else name).suffix.lower())


def _names(header: Sequence[str]) -> str:
    return cut(", ".join(map(shown, header))) or "nothing"


def _separated_rows(lines: Iterator[str], mark: str, width: int = 0) -> Iterator[_Row]:
    """Rows of CSV, or of text with tabs between cells, in which programs may write quotes as they are.

    Quotes beside tabs are those of CSV only if that makes `width` cells (0 for any number) without tabs.
    """
    number, taken, waiting = 1, list[str](), deque[str]()

    def take() -> Iterator[str]:
        while (line := waiting.popleft() if waiting else next(lines, None)) is not None:
            taken.append(line)
            yield line

    reader = csv.reader(take(), delimiter=mark, strict=True)
    while True:
        try:
            cells: Any = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            cells = f"not CSV: {error}"
        is_bad = isinstance(cells, str)
        if mark == "\t" and (is_bad or len(cells) != (width or len(cells)) or "\t" in "".join(cells)):
            is_bad, cells = True, taken[0].rstrip("\n").removesuffix("\r").split("\t")
        if is_bad:
            # A quote that nothing closes would take all other lines along.
            waiting.extendleft(reversed(taken[1:]))
            del taken[1:]
            reader = csv.reader(take(), delimiter=mark, strict=True)
        if cells or mark == "\t":
            yield number, number + len(taken) - 1, cells or [""]
        number += len(taken)
        taken.clear()


def _member(record: dict[str, Any], name: str) -> str | int:
    """The text of a member of a JSON object; `a.b` is the member b of the object a."""
    value: Any = record
    for part in [name] if name in record else name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return "" if value is None else value
    if isinstance(value, bool | float):
        return json.dumps(value)
    raise ValueError(f"{name}: {shown(value)} is not text")


def _texts_of(column: Any, name: str) -> list[str]:
    if pa.types.is_nested(column.type):
        raise ValueError(f"{shown(name)} has {column.type}, not text")
    return [text or "" for text in column.cast(pa.string()).to_pylist()]


def _ids_of(column: Any, name: str) -> list[Any]:
    if pa.types.is_integer(column.type) and not column.null_count:
        return column.to_pylist()
    return _texts_of(column, name)
