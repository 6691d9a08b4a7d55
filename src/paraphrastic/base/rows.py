"""Rows of text from lines, aligned files and tables: CSV, tab-separated text, JSON lines and Parquet.

A row that cannot be read costs itself alone: it is told, and the others are read.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice, repeat
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from paraphrastic.base.compressed import COMPRESSED_SUFFIXES
from paraphrastic.base.errors import InputError, on_one_line, shown
from paraphrastic.base.identities import are_identities, identity, identity_text, identity_values
from paraphrastic.base.lines import UnreadableRows, aligned_lines, read_batches, readable_lines
from paraphrastic.base.numbers import is_count
from paraphrastic.base.quoted_tables import check_columns, table_rows
from paraphrastic.base.row_values import (
    are_plain,
    column_values,
    json_records,
    parse_rows,
    readable_text,
    split_cells,
)
from paraphrastic.base.text_files import text_input

# Kinds of tables by the ending of a file's name; for those with separators, the separator.
_KINDS = {".csv": ",", ".tsv": "\t", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
# If more than so many rows and more than half of all cannot be read, the file is not what it is taken for.
_MOST_FAULTS = 100
# Rows that are read at once, one by one.
_ROWS = 2048

# Takes a place, such as `texts.csv:3`, and why it cannot be read.
OnFault = Callable[[str, str], None]
# Where a row of a file of lines begins, from 1, and how many lines it has.
Lines = tuple[int, int]
# The identity of a row, its texts, and its lines.
Row = tuple[Any, tuple[str, ...], Lines]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that follow one another.

    Attributes:
        identities: what identifies each row: its number from 1, or the value of a column, which is None for
            a row that cannot be read. [n]
        columns: the texts, a list of n for each column; those of a row that cannot be read are empty.
        faults: the places, from 0, of the rows that cannot be read, and of blank lines among pairs.
        lines: the lines of each row, or None for one that cannot be read.
        arrow: the column that identifies the rows as Parquet has it, with its type; None in other files.
    """

    identities: Sequence[Any]
    columns: list[list[str]]
    faults: list[int]
    lines: Sequence[Lines | None]
    arrow: Any = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where rows come from.

    Attributes:
        path: the file, plain or compressed; `-` is standard input.
        columns: the names of a table's columns with the texts, or their numbers, from 1, if it has no header.
            With none, a table has as many columns as there are texts, and a line is cut at its tabs.
        identity: the column that identifies a row.
        others: files whose lines stand beside those of `path`.
        texts: how many texts a row has.
        labelled: the last of the texts is a label, which may be a number or a truth value in a table.
        hint: what to add about a line with more cells.
        on_fault: is told about each row that cannot be read; None makes it an error.
        opened: opens the file, if that is not done by its path.
    """

    path: str
    columns: Sequence[str] = ()
    identity: str | None = None
    others: Sequence[str] = ()
    texts: int = 1
    labelled: bool = False
    hint: str = ""
    on_fault: OnFault | None = None
    opened: Callable[[], AbstractContextManager[BinaryIO]] | None = None

    def stream(self) -> AbstractContextManager[BinaryIO]:
        """Open the file, which may be compressed."""
        return self.opened() if self.opened else text_input(self.path)

    @property
    def is_table(self) -> bool:
        """Whether the file is a table."""
        return self._kind is not None

    def batches(self, size: int) -> Iterator[Batch]:
        """Yield the rows, `size` at a time.

        Raises:
            InputError: the file cannot be read or lacks a column, or most or all of its rows cannot be read;
                or a single row, if there is no `on_fault`.
        """
        unreadable = Told(self.path, self.on_fault)
        if self.others and (self.columns or self.identity is not None):
            raise InputError(f"{self.path}: two files are read line by line; columns are those of one table")
        read = self._rows
        if self._kind == "parquet":
            read = self._parquet
        elif self._kind is None and not self.others and self.texts == 1:
            read = self._lines
        rows = 0
        for batch in read(unreadable, size):
            rows += len(batch.identities)
            yield batch
        unreadable.check_end(rows)

    def sentences(self) -> Iterator[tuple[Any, str]]:
        """Yield the identity and the first text of each row; the text of one that cannot be read is empty.

        Raises:
            InputError: see `batches`.
        """
        for batch in self.batches(_ROWS):
            yield from zip(batch.identities, batch.columns[0], strict=True)

    @property
    def _kind(self) -> str | None:
        """The kind of table; None for lines."""
        kind = _KINDS.get(_ending(self.path))
        if kind is None and (self.columns or self.identity is not None):
            endings = ", ".join(_KINDS)
            raise InputError(f"{self.path}: is read line by line; the name of a table ends in {endings}")
        if self.identity is not None and not self.columns:
            cause = f"name the column with the text, too, not only {shown(self.identity)}"
            raise InputError(f"{self.path}: {cause}")
        # Texts with tabs between them need no header.
        return None if kind == "\t" and self.texts > 1 and not self.columns else kind

    def _lines(self, unreadable: "Told", size: int) -> Iterator[Batch]:
        """Lines with one text, which are read faster than rows are."""
        first = 1
        with self.stream() as stream:
            note = partial(unreadable.add, self.path)
            for lines in read_batches(stream, self.path, size, note):
                rows = range(first, first + len(lines))
                # Lines are read some batches ahead.
                faults = [number - first for number in unreadable.take(rows.stop)]
                yield Batch(rows, [lines], faults, list(zip(rows, repeat(1))))
                first = rows.stop

    def _rows(self, unreadable: "Told", size: int) -> Iterator[Batch]:
        with ExitStack() as stack:
            rows = _with_faults(self._read(unreadable, stack), unreadable)
            for first in count(1, size):
                some = list(islice(rows, size))
                if not some:
                    return
                yield self._batch(some, first)

    def _batch(self, rows: list[Row | None], first: int, arrow: Any = None) -> Batch:
        """Rows, of which some cannot be read, as a batch that begins with this number."""
        empty = ("",) * self.texts
        texts = [empty if row is None else row[1] for row in rows]
        identities: Sequence[Any] = range(first, first + len(rows))
        if self.identity is not None:
            identities = [None if row is None else row[0] for row in rows]
        faults = [place for place, row in enumerate(rows) if row is None]
        columns = [list(column) for column in zip(*texts, strict=True)]
        return Batch(identities, columns, faults, [row and row[2] for row in rows], arrow)

    def _parquet(self, unreadable: "Told", size: int) -> Iterator[Batch]:
        """The rows of a Parquet file. Columns of plain text need not be looked at row by row."""
        try:
            from pyarrow import ArrowException
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise InputError(f"{self.path}: Parquet needs pyarrow: pip install pyarrow") from None
        if self.opened or Path(self.path).is_fifo():
            raise InputError(f"{self.path}: Parquet cannot be read from a pipe")
        first = 1
        try:
            with ParquetFile(self.path) as file:
                names = _columns(self, file.schema_arrow.names)
                wanted = _with_identity(self, names)
                check_columns(file.schema_arrow.names, wanted, self.path)
                for batch in file.iter_batches(size, columns=list(dict.fromkeys(wanted))):
                    numbers = range(first, first + len(batch))
                    texts, own, column = [column_values(batch.column(name)) for name in names], [], None
                    if self.labelled:
                        texts[-1] = identity_values(batch.column(names[-1]), names[-1])
                    if self.identity is not None:
                        column = batch.column(self.identity)
                        own = [identity_values(column, f"{self.path}: {shown(self.identity)}")]
                    if all(map(are_plain, texts)) and all(map(are_identities, own)):
                        lines = list(zip(numbers, repeat(1)))
                        yield Batch(own[0] if own else numbers, texts, [], lines, column)
                    else:
                        values = ((names, list(row), 1) for row in zip(*texts, *own, strict=True))
                        rows = zip(numbers, values, strict=True)
                        parsed = parse_rows(rows, partial(_row, self), self.path, unreadable)
                        yield self._batch(list(_with_faults(parsed, unreadable)), first, column)
                    first = numbers.stop
        except (ArrowException, OSError) as error:
            raise InputError(f"{self.path}: cannot be read: {on_one_line(error)}") from None

    def _read(self, unreadable: UnreadableRows, stack: ExitStack) -> Iterator[Row | None]:
        """Yield the rows that can be read, and None for a blank line, which has no texts."""
        paths = [self.path, *self.others]
        opened = [self.stream(), *map(text_input, self.others)]
        streams = [stack.enter_context(stream) for stream in opened]
        if self.others:
            for number, texts in aligned_lines(streams, paths, unreadable):
                yield None, texts, (number, 1)
            return
        if self._kind is None:
            lines = _without_last_blanks(readable_lines(streams[0], self.path, unreadable))
            yield from parse_rows(lines, partial(_cut, self), self.path, unreadable)
            return
        if self._kind == "json":
            rows = _named(self, json_records(streams[0], self.path, unreadable))
        else:
            has_header = not self.columns or not all(map(is_count, self.columns))
            if not has_header and self.identity is not None and not is_count(self.identity):
                cause = f"has no header, so {shown(self.identity)} has to be a number, too"
                raise InputError(f"{self.path}: {cause}")
            wanted = _with_identity(self, self.columns)
            found = table_rows(streams[0], self.path, self._kind, wanted, unreadable, has_header=has_header)
            rows = _named(self, found)
        yield from parse_rows(rows, partial(_row, self), self.path, unreadable)


class Told(UnreadableRows):
    """Tells rows that cannot be read, or raises an error."""

    def __init__(self, path: str, on_fault: OnFault | None) -> None:
        super().__init__(bound=0)
        self.path, self._on_fault = path, on_fault
        self._first = ""
        self._waiting: list[int] = []

    def add(self, label: str, line: int, cause: str) -> None:
        """Note a row that cannot be read."""
        place = f"{label}:{line}"
        self.count += 1
        if self._on_fault is None:
            raise InputError(f"{place}: {cause}")
        self._on_fault(place, cause)
        self._first = self._first or f"{place}: {cause}"
        self._waiting.append(line)

    def take(self, end: int) -> list[int]:
        """The lines before `end` that were noted since the last call, ascending."""
        taken = [line for line in self._waiting if line < end]
        self._waiting = self._waiting[len(taken) :]
        return taken

    def check_end(self, rows: int) -> None:
        """Raise an `InputError` if none of the rows could be read, or many and most of them could not."""
        if 0 < rows == self.count:
            raise InputError(f"{self.path}: no row can be read; {self._first}")
        if self.count > _MOST_FAULTS and 2 * self.count > rows:
            raise InputError(f"{self.path}: {self.count} of {rows} rows cannot be read; {self._first}")


def _with_faults(rows: Iterator[Row | None], unreadable: UnreadableRows) -> Iterator[Row | None]:
    """The rows, and None in the place of each that could not be read."""
    seen = unreadable.count
    for row in rows:
        yield from repeat(None, unreadable.count - seen)
        seen = unreadable.count
        yield row
    yield from repeat(None, unreadable.count - seen)


def _ending(path: str) -> str:
    """The ending of a file's name that says what it holds, which one for a compression may follow."""
    name = PurePath(path)
    return (name.with_suffix("") if name.suffix in COMPRESSED_SUFFIXES else name).suffix.lower()


def is_table(path: str) -> bool:
    """Whether a file's name says that it holds a table."""
    return _ending(path) in _KINDS


def _without_last_blanks(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Numbered lines but for the blank ones at the end."""
    blank: list[tuple[int, str]] = []
    for line in lines:
        blank.append(line)
        if line[1].strip():
            yield from blank
            blank.clear()


def _cut(source: Source, number: int, line: str) -> Row | None:
    if not line.strip():
        return None
    hint = source.hint if line.count("\t") >= source.texts else ""
    expected = f"where {source.texts} are expected{hint}"
    return number, tuple(split_cells(line, [source.texts], expected)), (number, 1)


# The names of a row's texts, their values, which the identity may follow, and the number of the row's lines.
_Values = tuple[Sequence[str], list[Any], int]
_Found = tuple[int, _Values]


def _row(source: Source, number: int, found: _Values) -> Row:
    names, values, height = found
    own = number if source.identity is None else identity(values[-1], source.identity)
    if source.labelled:
        label = source.texts - 1
        values[label] = identity_text(identity(values[label], names[label]))
    return own, tuple(map(readable_text, values, names)), (number, height)


def _columns(source: Source, header: Sequence[str]) -> list[str]:
    """The names of the columns with the texts: those that were named, or all if there are as many."""
    if source.columns:
        return list(source.columns)
    if len(header) == source.texts:
        return list(header)
    columns = ", ".join(map(shown, header))
    raise InputError(f"{source.path}: is a table; say which of its columns has the text: {columns}")


def _with_identity(source: Source, names: Sequence[str]) -> list[str]:
    """The names of columns, and that of the one that identifies a row, if there is one."""
    return [*names, *([] if source.identity is None else [source.identity])]


def _named(source: Source, rows: Iterator[tuple[int, Any]]) -> Iterator[_Found]:
    """The values of named columns; a row is a mapping."""
    if (first := next(rows, None)) is None:
        return
    names = _columns(source, [*first[1]])
    wanted = _with_identity(source, names)
    for number, row in chain([first], rows):
        values = [row.get(name) for name in wanted]
        yield number, (names, values, getattr(row, "height", 1))
