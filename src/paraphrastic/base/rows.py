"""Rows of text from lines, aligned files and tables: CSV, tab-separated text, JSON lines and Parquet.

A row that cannot be read costs itself alone: it is named, and the others are read.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from pathlib import PurePath
from typing import Any

from paraphrastic.base.compressed import COMPRESSED_SUFFIXES
from paraphrastic.base.errors import InputError, on_one_line, shown
from paraphrastic.base.lines import HAS_NUL, Undecodable, read_batches, read_lines
from paraphrastic.base.text_files import text_input

# Kinds of tables by the ending of a file's name.
_KINDS = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
# If more than so many rows and more than half of all cannot be read, the file is not what it is taken for.
_MOST_FAULTS = 100

# The values of a row's columns, or why it cannot be read.
Values = Sequence[Any] | str
# Takes a place, such as `texts.csv:3`, and why it cannot be read.
OnFault = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that follow one another.

    Attributes:
        identities: what identifies each row: the value of a column, or its number from 1. [n]
        columns: the texts, a list of n for each column; those of a row that cannot be read are empty.
        faults: the places, from 0, of the rows that cannot be read.
    """

    identities: Sequence[Any]
    columns: list[list[str]]
    faults: list[int]


@dataclass(slots=True)
class Source:
    """Where rows come from.

    Attributes:
        path: the file, plain or compressed; `-` is standard input.
        columns: the names of a table's columns with the texts, or their numbers, from 1, if it has no header.
            With none, a row is a line, cut at its tabs if there are several texts.
        identity: the column that identifies a row.
        others: files whose lines stand beside those of `path`.
        texts: how many texts a row has.
        strict: whether a row that cannot be read is an error.
        on_fault: is told about each row that cannot be read.
    """

    path: str
    columns: Sequence[str] = ()
    identity: str | None = None
    others: Sequence[str] = ()
    texts: int = 1
    strict: bool = False
    on_fault: OnFault | None = None
    faults: int = field(default=0, init=False)
    """Number of rows that could not be read."""
    _first_cause: str = field(default="", init=False)

    def batches(self, size: int) -> Iterator[Batch]:
        """Yield the rows, `size` at a time.

        Raises:
            InputError: the file cannot be read or lacks a column, or most or all of its rows cannot be read;
                or a single row, if `strict` is set.
        """
        self.faults = 0
        is_plain = self._kind is None and not self.others and self.texts == 1
        count = 0
        for batch in self._lines(size) if is_plain else self._rows(size):
            count += len(batch.identities)
            yield batch
        if 0 < count == self.faults:
            raise InputError(f"{self.path}: no row can be read{self._first_cause}")

    def _rows(self, size: int) -> Iterator[Batch]:
        rows, first = self._read(), 1
        while some := list(islice(rows, size)):
            faults = []
            for place, (where, _, texts) in enumerate(some):
                if cause := texts if isinstance(texts, str) else _fault(texts, self.texts):
                    self._fault(first + place, where, cause)
                    faults.append(place)
            empty, bad = ("",) * self.texts, set(faults)
            kept = [empty if place in bad else texts for place, (_, _, texts) in enumerate(some)]
            numbers: Sequence[Any] = range(first, first + len(some))
            identities = numbers if self.identity is None else [identity for _, identity, _ in some]
            yield Batch(identities, [list(column) for column in zip(*kept, strict=True)], faults)
            first += len(some)

    @property
    def _kind(self) -> str | None:
        """The kind of table; None for lines."""
        kind = _KINDS.get(_ending(self.path))
        if kind is None and (self.columns or self.identity is not None):
            endings = ", ".join(_KINDS)
            raise InputError(f"{self.path}: is read line by line; the name of a table ends in {endings}")
        if self.identity is not None and not self.columns:
            raise InputError(
                f"{self.path}: name the column with the text, too, not only {shown(self.identity)}"
            )
        # Two texts with a tab between them need no header.
        without_header = _ending(self.path) == ".tsv" and self.texts > 1 and not self.columns
        return None if without_header else kind

    def _fault(self, number: int, place: str, cause: str) -> None:
        """Note that a row cannot be read; `number` is its number from 1."""
        self.faults += 1
        if self.faults == 1:
            self._first_cause = f"; {place}: {cause}"
        if self.strict:
            raise InputError(f"{place}: {cause}")
        if self.faults > _MOST_FAULTS and 2 * self.faults > number:
            raise InputError(f"{place}: {cause}; {self.faults} of {number} rows cannot be read")
        if self.on_fault:
            self.on_fault(place, cause)

    def _lines(self, size: int) -> Iterator[Batch]:
        """Lines with one text, which are read faster than rows are."""
        bad: list[int] = []

        def note(number: int, cause: str) -> None:
            self._fault(number, f"{self.path}:{number}", cause)
            bad.append(number)

        first = 1
        with text_input(self.path) as stream:
            for lines in read_batches(stream, self.path, size, note):
                rows = range(first, first + len(lines))
                # Lines are read some batches ahead.
                yield Batch(rows, [lines], [number - first for number in bad if number in rows])
                first += len(lines)

    def _read(self) -> Iterator[tuple[str, Any, Values]]:
        """Yield the place of each row, its identity, and its texts or why there are none."""
        if self.others:
            yield from self._beside_each_other()
        elif self._kind is None:
            for number, line in enumerate(_lines(self.path), start=1):
                cells = line.cause if isinstance(line, Undecodable) else line.split("\t")
                yield f"{self.path}:{number}", None, cells
        else:
            reader = {"csv": _csv, "jsonl": _json_lines, "parquet": _parquet}[self._kind]
            names = [*self.columns, *([] if self.identity is None else [self.identity])]
            for number, values in reader(self.path, names, self.texts):
                place = f"{self.path}:{number}"
                if isinstance(values, str) or self.identity is None:
                    yield place, None, values
                else:
                    yield place, values[-1], values[:-1]

    def _beside_each_other(self) -> Iterator[tuple[str, Any, Values]]:
        paths = [self.path, *self.others]
        for number, row in enumerate(zip_longest(*map(_lines, paths)), start=1):
            if None in row:
                short = paths[row.index(None)]
                raise InputError(f"{short}: has {number - 1} lines, but another of the files has more")
            causes = [line.cause for line in row if isinstance(line, Undecodable)]
            yield f"{self.path}:{number}", None, causes[0] if causes else row


def _ending(path: str) -> str:
    """The ending of a file's name that says what it holds, which one for a compression may follow."""
    name = PurePath(path)
    return (name.with_suffix("") if name.suffix in COMPRESSED_SUFFIXES else name).suffix.lower()


def _lines(path: str) -> Iterator[str | Undecodable]:
    with text_input(path) as stream:
        yield from read_lines(stream, path)


def _fault(texts: Sequence[Any], count: int) -> str | None:
    """Why these are not the texts of a row; None if they are."""
    if len(texts) != count:
        return f"{len(texts)} columns where {count} are expected"
    for text in texts:
        if not isinstance(text, str):
            return f"{shown(text)} is no text"
        if "\0" in text:
            return HAS_NUL
        if any("\ud800" <= character <= "\udfff" for character in text):
            return "not UTF-8"
    return None


def _places(path: str, header: Sequence[str], names: Sequence[str], count: int) -> list[int]:
    """The places of columns in a header; without names, those of all columns if there are `count` of them."""
    if not names and len(header) == count:
        return list(range(count))
    columns = ", ".join(map(shown, header))
    if not names:
        raise InputError(f"{path}: is a table; say which of its columns has the text: {columns}")
    for name in names:
        if name not in header:
            raise InputError(f"{path}: has no column {shown(name)}; its columns are {columns}")
    return [header.index(name) for name in names]


def _csv(path: str, names: Sequence[str], count: int) -> Iterator[tuple[int, Values]]:
    """The rows of a CSV or tab-separated file; a row is named by the line on which it ends."""
    with text_input(path) as stream:
        # A byte that is not UTF-8 is known by a lone surrogate, so that it costs its row alone.
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        first = text.readline()
        tabs = _ending(path) == ".tsv"
        delimiter = "\t" if tabs else max(",;\t", key=first.count)
        # Text with tabs seldom has quotes around its cells, and often within them.
        quoting: Any = csv.QUOTE_NONE if tabs and '"' not in first else csv.QUOTE_MINIMAL
        rows = csv.reader(chain([first] if first else [], text), delimiter=delimiter, quoting=quoting)
        without_header = bool(names) and all(name.isdecimal() for name in names)
        width, places = 0, [int(name) - 1 for name in names] if without_header else []
        if without_header and min(places) < 0:
            raise InputError(f"{path}: columns are numbered from 1")
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield rows.line_num, on_one_line(error)
                continue
            if not row:
                continue
            if not width:
                width = len(row)
                if not without_header:
                    places = _places(path, row, names, count)
                    continue
                if max(places) >= width:
                    raise InputError(f"{path}: has {width} columns; there is no column {max(places) + 1}")
            if len(row) == width:
                yield rows.line_num, [row[place] for place in places]
            else:
                yield rows.line_num, f"{len(row)} columns where {width} are expected"


def _json_lines(path: str, names: Sequence[str], count: int) -> Iterator[tuple[int, Values]]:
    """The rows of a file with a JSON object on each line."""
    for number, line in enumerate(_lines(path), start=1):
        if isinstance(line, Undecodable):
            yield number, line.cause
            continue
        if not line.strip():
            continue
        try:
            content = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, f"is not JSON: {on_one_line(error)}"
            continue
        if isinstance(content, str) and count == 1 and not names:
            yield number, [content]
            continue
        if not isinstance(content, dict):
            yield number, "is no JSON object"
            continue
        if not names:
            names = [list(content)[place] for place in _places(path, list(content), names, count)]
        missing = [name for name in names if name not in content]
        yield number, f"lacks {shown(missing[0])}" if missing else [content[name] for name in names]


def _parquet(path: str, names: Sequence[str], count: int) -> Iterator[tuple[int, Values]]:
    """The rows of a Parquet file."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise InputError(f"{path}: Parquet needs pyarrow: pip install pyarrow") from None
    if path == "-":
        raise InputError("Parquet cannot be read from standard input")
    number = 0
    try:
        with ParquetFile(path) as file:
            header = file.schema_arrow.names
            chosen = [header[place] for place in _places(path, header, names, count)]
            for batch in file.iter_batches(columns=list(dict.fromkeys(chosen))):
                columns = [batch.column(name).to_pylist() for name in chosen]
                for values in zip(*columns, strict=True):
                    number += 1
                    yield number, values
    except (ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read: {on_one_line(error)}") from None
