"""Lines of text that came from elsewhere, and what becomes of rows that cannot be read."""

import codecs
import io
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, TextIO

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output

# A longer line, without its end, is no sentence, and must not fill the memory.
MAX_LINE_BYTES = 1 << 20
# At most as many, so that only a line which began in an earlier chunk can be longer.
_CHUNK_BYTES = MAX_LINE_BYTES
# Causes for which lines, and cells of tables, cannot be read.
TOO_LONG = f"longer than {MAX_LINE_BYTES} bytes"
HAS_NUL = "a NUL character, which no text has"
# Control characters but the newline, which ends a line, the tab, which may part columns, and NUL, which no
# text has: every other byte of Latin text in UTF-16 is one.
_CONTROL_BYTES = bytes(b for b in [*range(1, 32), 127] if b not in b"\t\n")
# Byte order marks; that of UTF-32 may begin as that of UTF-16.
_OTHER_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
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

    Raises:
        InputError: the byte order mark of another encoding.
    """
    # A line that is cut here is too long as it is, even if what is left ends with a carriage return.
    for data in _whole_lines(stream, label, keep=MAX_LINE_BYTES + 2):
        yield from _decode(data)


def read_batches(stream: BinaryIO, label: str, size: int) -> Iterator[list[str]]:
    """Lines of UTF-8 text as `read_lines` ends them, otherwise unchanged and of any length.

    Args:
        stream: the text.
        label: what errors call it.
        size: number of lines in a batch, at most.

    Raises:
        InputError: a line that is not UTF-8, with its number; the byte order mark of another encoding.
    """
    number = 1
    for data in _whole_lines(stream, label):
        try:
            lines = data.decode("utf-8").split("\n")
        except UnicodeDecodeError as error:
            number += data.count(b"\n", 0, error.start)
            raise InputError(f"{label}:{number}: {_not_utf8(error)}") from None
        if b"\r" in data:
            lines = [line.removesuffix("\r") for line in lines]
        for start in range(0, len(lines), size):
            yield lines[start : start + size]
        number += len(lines)


def text_lines(content: bytes | BinaryIO, label: str) -> list[str]:
    """All lines of a text that fits into memory; see `read_batches`."""
    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    return [line for batch in read_batches(stream, label, _CHUNK_BYTES) for line in batch]


def _whole_lines(stream: BinaryIO, label: str, *, keep: int | None = None) -> Iterator[bytes]:
    """Blocks of lines, without the end of the last one; of a line longer than a block, `keep` bytes."""
    begun = [b""]
    first = True
    while chunk := stream.read(_CHUNK_BYTES):
        if first:
            chunk, first = _without_mark(chunk, label), False
        whole, newline, rest = chunk.rpartition(b"\n")
        if newline:
            yield b"".join([*begun, whole])
            begun = []
        begun.append(rest)
        if keep is not None:
            begun = [b"".join(begun)[:keep]]
    if last := b"".join(begun):
        yield last


def _without_mark(head: bytes, label: str) -> bytes:
    for mark, encoding in _OTHER_MARKS.items():
        if head.startswith(mark):
            raise InputError(f"{label}: not UTF-8 but {encoding}")
    return head.removeprefix(codecs.BOM_UTF8)


def _decode(data: bytes) -> Sequence[str | Undecodable]:
    """Lines of `data`; only the first one can be too long."""
    data = data.replace(b"\r\n", b"\n").removesuffix(b"\r")
    first, newline, others = data.partition(b"\n") if len(data) > MAX_LINE_BYTES else (b"", b"", b"")
    if len(first) > MAX_LINE_BYTES:
        return [Undecodable(TOO_LONG), *(_decode(others) if newline else ())]
    data = _C1_CONTROL.sub(b" ", data.translate(_BLANK_CONTROL_BYTES))
    if b"\0" not in data:
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8").split("\n")
    return [_decode_line(line) for line in data.split(b"\n")]


def _decode_line(line: bytes) -> str | Undecodable:
    if b"\0" in line:
        return Undecodable(HAS_NUL)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        return Undecodable(_not_utf8(error))


def _not_utf8(error: UnicodeDecodeError) -> str:
    return f"not UTF-8: byte 0x{error.object[error.start]:02x}"


def readable_lines(
    stream: BinaryIO, label: str, unreadable: UnreadableRows | None = None
) -> Iterator[tuple[int, str]]:
    """Numbers, from 1, and lines that are text; without a bound, the first other one is an `InputError`."""
    for number, line in enumerate(read_lines(stream, label), start=1):
        if isinstance(line, Undecodable):
            if unreadable is None:
                raise InputError(f"{label}:{number}: {line.cause}")
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
