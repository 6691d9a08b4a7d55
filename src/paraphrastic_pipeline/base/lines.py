"""Reading lines of text from unknown sources, and handling rows that cannot be read."""

import codecs
import io
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, TextIO

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic_pipeline.base.tables import tsv_line

# A longer line (its end not counted) is no sentence, and must not fill the memory.
MAX_LINE_BYTES = 1 << 20
# A chunk is no larger than the limit, so only a line that began in an earlier chunk can exceed it.
_CHUNK_BYTES = MAX_LINE_BYTES
# Reasons why a line or a table cell cannot be read.
TOO_LONG = f"longer than {MAX_LINE_BYTES} bytes"
HAS_NUL = "contains a NUL character, which is not valid in text"
# Control characters that become spaces. The newline ends a line, the tab may separate columns, and NUL marks
# a line as unreadable: no text contains it, while Latin text in UTF-16 has it as every second byte.
_CONTROL_BYTES = bytes(b for b in [*range(1, 32), 127] if b not in b"\t\n")
# Byte order marks. UTF-32 comes first, since its little-endian mark begins with the one of UTF-16.
_OTHER_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_BLANK_CONTROL_BYTES = bytes.maketrans(_CONTROL_BYTES, b" " * len(_CONTROL_BYTES))
_C1_CONTROL = re.compile(rb"\xc2[\x80-\x9f]")

_log = logging.getLogger(__name__)


class UnreadableRows:
    """Count rows that cannot be read, until there are more than the bound.

    The report receives a line `file TAB line TAB cause` for each of them.
    """

    def __init__(self, bound: int, report: TextIO | None = None) -> None:
        self._bound = bound
        self._report = report
        self.count = 0
        self.last_line = 0

    def add(self, label: str, line: int, cause: str) -> None:
        """Note that a line (or row) cannot be read; `label` names its file. Raises past the bound."""
        self.count += 1
        self.last_line = line
        if self.count > self._bound:
            rows = "1 unreadable row" if self.count == 1 else f"{self.count} unreadable rows"
            allow = f"to allow {'more' if self._bound else 'some'}, set `extraction: {{max_unreadable: N}}`"
            raise InputError(f"{label}:{line}: {cause} ({rows}; {allow})")
        _log.warning("%s:%d: %s", label, line, cause)
        if self._report is not None:
            self._report.write(tsv_line([label, line, cause]))


@contextmanager
def unreadable_rows(path: str | Path | None, bound: int) -> Iterator[UnreadableRows]:
    """Yield an `UnreadableRows` that reports to the TSV file `path`, which is either complete or absent."""
    if path is None:
        yield UnreadableRows(bound)
        return
    with atomic_output(path) as temporary, temporary.open("w", encoding="utf-8") as report:
        report.write(tsv_line(["file", "line", "cause"]))
        yield UnreadableRows(bound, report)


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Takes the place of a line that is not text.

    Attributes:
        cause: why it is not.
        text: the line as far as it can be decoded; empty if it is too long.
    """

    cause: str
    text: str = ""


def read_lines(stream: BinaryIO, label: str) -> Iterator[str | Undecodable]:
    """Lines of UTF-8 text without their ends; every control character but the tab becomes a space.

    Only a newline ends a line, with or without a carriage return before it. A byte order mark is dropped.

    Raises:
        InputError: the text begins with the byte order mark of another encoding.
    """
    # Two extra bytes are kept: even if the last one is a carriage return, a cut line is still too long.
    for data in _whole_lines(stream, label, keep=MAX_LINE_BYTES + 2):
        yield from _decode_bounded(_without_returns(data))


def read_batches(
    stream: BinaryIO, label: str, size: int, on_fault: Callable[[int, str], None] | None = None
) -> Iterator[list[str]]:
    """Batches of at most `size` lines as `read_lines` has them, but of any length.

    `on_fault` is told the number of a line that is no text, and why; the line is empty in its batch.

    Raises:
        InputError: a line is not UTF-8 or has a NUL character (the message has its number), and there is no
            `on_fault`; or the byte order mark is of another encoding.
    """
    number = 1
    for data in _whole_lines(stream, label):
        lines = []
        for place, line in enumerate(_decode(_without_returns(data)), start=number):
            if isinstance(line, Undecodable):
                if on_fault is None:
                    raise InputError(f"{label}:{place}: {line.cause}")
                on_fault(place, line.cause)
            lines.append("" if isinstance(line, Undecodable) else line)
        for start in range(0, len(lines), size):
            yield lines[start : start + size]
        number += len(lines)


def text_lines(content: bytes | BinaryIO, label: str) -> list[str]:
    """All lines of a text that fits into memory, read by `read_batches`."""
    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    return [line for batch in read_batches(stream, label, _CHUNK_BYTES) for line in batch]


def _whole_lines(stream: BinaryIO, label: str, *, keep: int | None = None) -> Iterator[bytes]:
    """Blocks of whole lines, without the last newline; a line longer than a block is cut to `keep` bytes."""
    begun = [b""]
    first = True
    while chunk := stream.read(_CHUNK_BYTES):
        if first:
            for mark, encoding in _OTHER_MARKS.items():
                if chunk.startswith(mark):
                    raise InputError(f"{label}: not UTF-8 but {encoding}")
            chunk, first = chunk.removeprefix(codecs.BOM_UTF8), False
        whole, newline, rest = chunk.rpartition(b"\n")
        if newline:
            yield b"".join([*begun, whole])
            begun = []
        begun.append(rest)
        if keep is not None:
            begun = [b"".join(begun)[:keep]]
    if last := b"".join(begun):
        yield last


def _without_returns(data: bytes) -> bytes:
    """Whole lines without the carriage returns at their ends."""
    return data.replace(b"\r\n", b"\n").removesuffix(b"\r")


def _decode_bounded(data: bytes) -> Sequence[str | Undecodable]:
    """Split `data` into lines, of which only the first can be too long."""
    first, newline, others = data.partition(b"\n") if len(data) > MAX_LINE_BYTES else (b"", b"", b"")
    if len(first) > MAX_LINE_BYTES:
        return [Undecodable(TOO_LONG), *(_decode(others) if newline else ())]
    return _decode(data)


def _decode(data: bytes) -> Sequence[str | Undecodable]:
    """Split `data` into lines, in which control characters become spaces."""
    data = _C1_CONTROL.sub(b" ", data.translate(_BLANK_CONTROL_BYTES))
    if b"\0" not in data:
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8").split("\n")
    return [_decode_line(line) for line in data.split(b"\n")]


def _decode_line(line: bytes) -> str | Undecodable:
    if b"\0" in line:
        return Undecodable(HAS_NUL, line.decode("utf-8", "replace"))
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        cause = f"not UTF-8: byte 0x{error.object[error.start]:02x}"
        return Undecodable(cause, line.decode("utf-8", "replace"))


def readable_lines(
    stream: BinaryIO, label: str, unreadable: UnreadableRows | None = None
) -> Iterator[tuple[int, str]]:
    """Text lines, numbered from 1. Without `unreadable`, a line that is not text is an `InputError`."""
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
    """Numbered rows, from 1, of the streams' lines side by side; tabs become spaces.

    If a line is unreadable on one side, it is left out on all sides, so that the rest stays aligned. If the
    streams differ in length, an `InputError` gives the line counts.
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
