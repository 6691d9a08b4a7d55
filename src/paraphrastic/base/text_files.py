"""Files of text and streams as commands take them: plain or compressed, and `-` for standard ones."""

import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePath
from typing import IO, BinaryIO, Literal

from paraphrastic.base.compressed import COMPRESSED_SUFFIXES, open_stream
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, unwritable_named
from paraphrastic.base.lines import read_batches
from paraphrastic.base.streams import is_stream, own_descriptor, stream_output

_MAX_FILE_BYTES = 1 << 50
# Lines that are read at a time.
_BATCH_LINES = 2048


def read_sentences(path: str) -> Iterator[str]:
    """Yield the lines of a text file; see `text_input` and `read_batches`."""
    with text_input(path) as stream:
        for batch in read_batches(stream, path, _BATCH_LINES):
            yield from batch


@contextmanager
def text_input(path: str) -> Iterator[BinaryIO]:
    """Open a file as bytes, plain or compressed (gzip, bzip2, Zstandard); `-` is standard input."""
    if path == "-":
        yield _standard("input")
        return
    own_descriptor(path)  # if it is closed, another file is in its place
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(open_stream(path, max_bytes=_MAX_FILE_BYTES))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        yield stream


@contextmanager
def byte_output(path: str) -> Iterator[IO[bytes]]:
    """Open a binary file that gets its name only when it is complete, or a stream; `-` is standard output."""
    if PurePath(path).suffix in COMPRESSED_SUFFIXES:
        raise InputError(f"{path}: output is not compressed; choose a name without {PurePath(path).suffix}")
    if path == "-":
        stream = _standard("output")
        with unwritable_named("standard output"):
            yield stream
            stream.flush()
        return
    with ExitStack() as stack:
        try:
            if Path(path).is_dir():
                raise InputError(f"{path}: cannot be written: Is a directory")
            if is_stream(path):
                stack.enter_context(unwritable_named(path))
                file = stack.enter_context(stream_output(path))
            else:
                file = stack.enter_context(stack.enter_context(atomic_output(path)).open("wb"))
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        yield file


@contextmanager
def text_output(path: str) -> Iterator[IO[str]]:
    """Open a text file in UTF-8, whatever the terminal's encoding is; see `byte_output`."""
    with byte_output(path) as stream:
        file = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=path == "-")
        try:
            yield file
        finally:
            file.detach()


def _standard(which: Literal["input", "output"]) -> BinaryIO:
    stream = sys.stdin if which == "input" else sys.stdout
    if stream is None:
        raise InputError(f"standard {which} is closed")
    return stream.buffer
