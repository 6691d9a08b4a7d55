"""Lines of text from unknown files, and the rows of a corpus that cannot be read."""

import codecs
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.registry.archive import open_stream

# No file or member is larger, unpacked.
MAX_BYTES = 100 << 30
# A longer line (its end not counted) is no sentence, and must not fill the memory. A block is no larger, so
# only a line that began in an earlier block can be too long.
MAX_LINE_BYTES = 1 << 20
_BLOCK_BYTES = MAX_LINE_BYTES
TOO_LONG = f"longer than {MAX_LINE_BYTES} bytes"
# UTF-32 comes first, since its little-endian mark begins with the one of UTF-16.
_OTHER_MARKS = {
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "UTF-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "UTF-16"),
}
# Control characters become spaces. The newline ends a line, the tab may separate columns, and NUL marks a
# line as unreadable: no text contains it, while Latin text in UTF-16 has it as every second byte.
_CONTROL = bytes(byte for byte in [*range(1, 32), 127] if byte not in b"\t\n")
_SPACES = bytes.maketrans(_CONTROL, b" " * len(_CONTROL))
_C1_CONTROL = re.compile(rb"\xc2[\x80-\x9f]")
# Unreadable rows that the log names, and how many must be there before a file is given up early.
_NAMED, _MANY = 10, 1000

_log = logging.getLogger(__name__)


class RowError(Exception):
    """A line or row cannot be read; the message is the cause."""


class Unreadable:
    """Counts the rows of a corpus, to which readers add, and those among them that cannot be read.

    `share` is the largest share of the rows that may be unreadable.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self.rows = self.count = 0
        self._first = ""

    def add(self, label: str, line: int, cause: object) -> None:
        """Count a row that cannot be read; `label` names its file. Raises if hardly any row can be read."""
        self.count += 1
        self._first = self._first or f"{label}:{line}: {cause}"
        if self.count <= _NAMED:
            _log.warning("%s:%d: %s", label, line, cause)
        if self.count > _MANY and 2 * self.count > self.rows:
            self.check()

    def check(self) -> None:
        """Raise an `InputError` if too large a share of the rows so far cannot be read."""
        if self.count > self.share * self.rows:
            raise InputError(
                f"{self._first} ({self.count:,} of {self.rows:,} rows cannot be read; to allow more, set "
                "`extraction: {max_unreadable: SHARE}`)"
            )


def read_lines(stream: BinaryIO, label: str) -> Iterator[str | RowError]:
    """Lines of UTF-8 text without their ends, or the reason why one is no text.

    Only a newline ends a line, with or without a carriage return before it. A byte order mark is dropped, and
    every control character but the tab becomes a space.

    Raises:
        InputError: the text begins with the byte order mark of another encoding.
    """
    rest, is_first = b"", True
    while block := stream.read(_BLOCK_BYTES):
        if is_first:
            for mark, encoding in _OTHER_MARKS.items():
                if block.startswith(mark):
                    raise InputError(f"{label}: not UTF-8 but {encoding}")
            block, is_first = block.removeprefix(codecs.BOM_UTF8), False
        whole, newline, last = block.rpartition(b"\n")
        if newline:
            yield from _decoded(rest + whole)
            rest = last
        else:
            # Two bytes too many: even if the last one is a carriage return, the line is still too long.
            rest = (rest + last)[: MAX_LINE_BYTES + 2]
    if rest:
        yield from _decoded(rest)


def _decoded(data: bytes) -> Sequence[str | RowError]:
    """The lines of a block, of which only the first can be too long."""
    data = data.replace(b"\r\n", b"\n").removesuffix(b"\r")
    data = _C1_CONTROL.sub(b" ", data.translate(_SPACES))
    is_long = len(data) > MAX_LINE_BYTES and data.find(b"\n", 0, MAX_LINE_BYTES + 1) < 0
    if not is_long and b"\0" not in data:
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8").split("\n")
    return [_decoded_line(line) for line in data.split(b"\n")]


def _decoded_line(line: bytes) -> str | RowError:
    if len(line) > MAX_LINE_BYTES:
        return RowError(TOO_LONG)
    if b"\0" in line:
        return RowError("contains a NUL character, which is not valid in text")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        return RowError(f"not UTF-8: byte 0x{line[error.start]:02x}")


def readable_lines(
    stream: BinaryIO, label: str, unreadable: Unreadable | None = None
) -> Iterator[tuple[int, str]]:
    """Text lines, numbered from 1. Without `unreadable`, a line that is not text is an `InputError`."""
    for number, line in enumerate(read_lines(stream, label), start=1):
        if unreadable is not None:
            unreadable.rows += 1
        if isinstance(line, str):
            yield number, line
        elif unreadable is not None:
            unreadable.add(label, number, line)
        else:
            raise InputError(f"{label}:{number}: {line}")


def file_lines(path: str | Path, unreadable: Unreadable) -> Iterator[tuple[int, str]]:
    """The readable lines of a file, which may be compressed."""
    with open_stream(path, max_bytes=MAX_BYTES) as stream:
        yield from readable_lines(stream, str(path), unreadable)


def aligned_lines(
    streams: Sequence[BinaryIO], labels: Sequence[str], unreadable: Unreadable
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Numbered rows, from 1, of the streams' lines side by side; tabs become spaces.

    If a line is unreadable on one side, it is left out on all sides, so that the rest stays aligned. If the
    streams differ in length, an `InputError` gives the line counts.
    """
    sides = [read_lines(stream, label) for stream, label in zip(streams, labels, strict=True)]
    for number, row in enumerate(zip_longest(*sides), start=1):
        unreadable.rows += 1
        if None in row:
            totals = [
                f"{label} has {number - (line is None) + sum(1 for _ in side)} lines"
                for label, line, side in zip(labels, row, sides, strict=True)
            ]
            raise InputError(f"sides of unequal length: {', '.join(totals)}")
        texts = tuple(line.replace("\t", " ") for line in row if isinstance(line, str))
        if len(texts) == len(row):
            yield number, texts
            continue
        label, cause = next(pair for pair in zip(labels, row, strict=True) if isinstance(pair[1], RowError))
        unreadable.add(label, number, cause)
