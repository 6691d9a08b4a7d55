"""Lines of text from unknown files, and the rows of a corpus that cannot be read."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import clean
from paraphrastic.base.text_files import fault_of
from paraphrastic_pipeline.registry.archive import open_members, open_stream

# No file or member is larger, unpacked.
MAX_BYTES = 100 << 30
# A longer line, with its end, is no sentence, and must not fill the memory.
MAX_LINE = 1 << 20
# Unreadable rows that the log names.
_NAMED = 10

_log = logging.getLogger(__name__)


class RowError(Exception):
    """A line or row cannot be read; the message is the cause."""


class Unreadable:
    """Counts the rows of a corpus, to which readers add, and those among them that cannot be read.

    `share` is the largest share of the rows of the corpus of this `name` that may be unreadable.
    """

    def __init__(self, name: str, share: float) -> None:
        self.name, self.share = name, share
        self.rows = self.count = 0
        self._first = ""

    def add(self, label: object, line: int, cause: object) -> None:
        """Count a row that cannot be read; `label` names its file."""
        self.count += 1
        self._first = self._first or f"{label}:{line}: {cause}"
        if self.count <= _NAMED:
            _log.warning("%s:%d: %s", label, line, cause)

    def check(self) -> None:
        """Raise an `InputError` if too large a share of the rows cannot be read."""
        if self.count > self.share * self.rows:
            raise InputError(
                f"{self._first} ({self.count:,} of {self.rows:,} rows cannot be read; to allow more, set "
                f"`extraction: {{max_unreadable: {{{self.name}: SHARE}}}}`)"
            )


@dataclass(frozen=True, slots=True)
class Text:
    """A text file, which may be compressed, or the member of an archive that has one of some `names`."""

    path: str | Path
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}: {' or '.join(self.names)}" if self.names else str(self.path)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the text as a stream of bytes."""
        if self.names:
            with open_members(self.path, [self.names], max_bytes=MAX_BYTES) as (stream,):
                yield stream
        else:
            with open_stream(self.path, max_bytes=MAX_BYTES) as stream:
                yield stream

    def lines(self, unreadable: Unreadable) -> Iterator[tuple[int, str]]:
        """The lines that can be read, numbered from 1."""
        with self.open() as stream:
            for number, line in enumerate(read_lines(stream), start=1):
                unreadable.rows += 1
                if isinstance(line, str):
                    yield number, line
                else:
                    unreadable.add(self, number, line)


def read_lines(stream: BinaryIO) -> Iterator[str | RowError]:
    """Lines of UTF-8 text without their ends, or the reason why one is no text.

    Only a newline ends a line, with or without a carriage return before it. A byte order mark is dropped, and
    every control character but the tab becomes a space.
    """
    text = TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="\n")
    while line := text.readline(MAX_LINE):
        end = line
        while len(end) == MAX_LINE and end[-1] != "\n":
            end = text.readline(MAX_LINE)
        if end is not line:
            yield RowError(f"longer than {MAX_LINE} characters")
            continue
        line = line.rstrip("\n").removesuffix("\r")
        if line.replace("\t", "").isprintable():
            yield line
        elif fault := fault_of(line):
            yield RowError(fault)
        else:
            yield "\t".join(map(clean, line.split("\t")))


def readable_lines(stream: BinaryIO, label: str) -> Iterator[tuple[int, str]]:
    """Text lines, numbered from 1; one that is not text is an `InputError`."""
    for number, line in enumerate(read_lines(stream), start=1):
        if not isinstance(line, str):
            raise InputError(f"{label}:{number}: {line}")
        yield number, line


def aligned_lines(texts: Sequence[Text], unreadable: Unreadable) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Numbered rows, from 1, of the texts' lines side by side; tabs become spaces.

    If a line is unreadable on one side, it is left out on all sides, so that the rest stays aligned. If the
    texts differ in length, an `InputError` gives the line counts.
    """
    with ExitStack() as opened:
        sides = [read_lines(opened.enter_context(text.open())) for text in texts]
        for number, row in enumerate(zip_longest(*sides), start=1):
            unreadable.rows += 1
            if None in row:
                totals = [
                    f"{text} has {number - (line is None) + sum(1 for _ in side)} lines"
                    for text, line, side in zip(texts, row, sides, strict=True)
                ]
                raise InputError(f"sides of unequal length: {', '.join(totals)}")
            lines = tuple(line.replace("\t", " ") for line in row if isinstance(line, str))
            if len(lines) == len(row):
                yield number, lines
                continue
            text, cause = next(two for two in zip(texts, row, strict=True) if isinstance(two[1], RowError))
            unreadable.add(text, number, cause)
