"""Lines of text that came from elsewhere, and what becomes of rows that cannot be read."""

import codecs
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, TextIO

from paraphrastic.errors import InputError
from paraphrastic.files import atomic_output

_CHUNK_BYTES = 1 << 20
# A longer line is no sentence: the file is not text by lines, and reading on would fill the memory.
MAX_LINE_BYTES = 1 << 20
# Control characters but the newline, which ends a line, and the tab, which may part columns.
_CONTROL_BYTES = bytes(b for b in [*range(32), 127] if b not in b"\t\n")
_BLANK_CONTROL_BYTES = bytes.maketrans(_CONTROL_BYTES, b" " * len(_CONTROL_BYTES))
_C1_CONTROL = re.compile(rb"\xc2[\x80-\x9f]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SHOWN = 40

_log = logging.getLogger(__name__)


class UnreadableRows:
    """Rows that cannot be read: counted and listed, until there are more than the bound.

    Args:
        bound: so many are allowed.
        report: gets a line `file TAB line TAB cause` for each of them.
    """

    def __init__(self, bound: int, report: TextIO | None = None) -> None:
        self._bound = bound
        self._report = report
        self.count = 0
        self.last_line = 0

    def add(self, label: str, line: int, cause: str) -> None:
        """Note that line (or row) `line` of the file `label` cannot be read; raises past the bound."""
        self.count += 1
        self.last_line = line
        _log.warning("%s:%d: %s", label, line, cause)
        if self.count > self._bound:
            rows = "1 unreadable row" if self.count == 1 else f"{self.count} unreadable rows"
            raise InputError(f"{label}:{line}: {cause} ({rows}, and max_unreadable is {self._bound})")
        if self._report is not None:
            self._report.write(f"{label}\t{line}\t{cause}\n")


@contextmanager
def unreadable_rows(path: str | Path | None, bound: int) -> Iterator[UnreadableRows]:
    """Unreadable rows, listed in the TSV file `path`, which has a header and is whole or not there."""
    if path is None:
        yield UnreadableRows(bound)
        return
    with atomic_output(path) as temporary, temporary.open("w", encoding="utf-8") as report:
        report.write("file\tline\tcause\n")
        yield UnreadableRows(bound, report)


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Stands for a line that is no text."""

    cause: str


def read_lines(stream: BinaryIO, label: str) -> Iterator[str | Undecodable]:
    """Lines of UTF-8 text without their ends; every control character but the tab is a space.

    Lines end at a newline only, with or without a carriage return; a byte order mark is dropped.
    """
    number = 0
    rest = b""
    while chunk := stream.read(_CHUNK_BYTES):
        data = rest + chunk
        end = data.rfind(b"\n") + 1
        rest = data[end:]
        if len(rest) > MAX_LINE_BYTES:
            long_line = number + data.count(b"\n", 0, end) + 1
            raise InputError(f"{label}:{long_line}: longer than {MAX_LINE_BYTES} bytes: no text by lines")
        if end:
            lines = _decode(data[:end], first=number == 0)
            number += len(lines)
            yield from lines
    if rest:
        yield from _decode(rest + b"\n", first=number == 0)


def _decode(data: bytes, *, first: bool) -> Sequence[str | Undecodable]:
    """Lines of `data`, which ends with a newline."""
    if first:
        data = data.removeprefix(codecs.BOM_UTF8)
    data = data.replace(b"\r\n", b"\n").translate(_BLANK_CONTROL_BYTES)
    data = _C1_CONTROL.sub(b" ", data)
    try:
        return data.decode("utf-8")[:-1].split("\n")
    except UnicodeDecodeError:
        return [_decode_line(line) for line in data[:-1].split(b"\n")]


def _decode_line(line: bytes) -> str | Undecodable:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        return Undecodable(f"not UTF-8: byte 0x{line[error.start]:02x}")


def readable_lines(stream: BinaryIO, label: str, unreadable: UnreadableRows) -> Iterator[tuple[int, str]]:
    """Numbers, from 1, and lines that are text."""
    for number, line in enumerate(read_lines(stream, label), start=1):
        if isinstance(line, Undecodable):
            unreadable.add(label, number, line.cause)
        else:
            yield number, line


def aligned_lines(
    streams: Sequence[BinaryIO], labels: Sequence[str], unreadable: UnreadableRows
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Numbers, from 1, and lines of all streams side by side, with spaces for tabs.

    A line that one side cannot read is left out on all sides, so that the others stay aligned. Sides that
    are not equally long are an `InputError` with the counts.
    """
    sides = [read_lines(stream, label) for stream, label in zip(streams, labels, strict=True)]
    for number, row in enumerate(zip_longest(*sides), start=1):
        if None in row:
            totals = [
                f"{label} has {number - (line is None) + sum(1 for _ in side)} lines"
                for label, line, side in zip(labels, row, sides, strict=True)
            ]
            raise InputError(f"sides of unequal length: {', '.join(totals)}")
        texts = tuple(line.replace("\t", " ") for line in row if isinstance(line, str))
        if len(texts) == len(row):
            yield number, texts
        else:
            faults = zip(labels, row, strict=True)
            label, bad = next((label, line) for label, line in faults if isinstance(line, Undecodable))
            unreadable.add(label, number, bad.cause)


def clean(text: str) -> str:
    """`text` with a space for every control character, as `read_lines` does."""
    return _CONTROL.sub(" ", text)


def shown(value: object) -> str:
    """`value` for a message: on one line and not long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
