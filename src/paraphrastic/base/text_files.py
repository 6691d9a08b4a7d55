"""Files of text as commands take them: plain or compressed, and `-` for standard input and output."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from _compression import DecompressReader
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import atomic_output, unwritable_named

COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
# Lines, and bytes of compressed files, that are read at a time.
_BATCH_LINES, _READ_BYTES = 2048, 1 << 16
_DESCRIPTOR = re.compile(r"/dev/(?:fd/(\d+)|std(in|out|err))")
_STANDARD = {"in": 0, "out": 1, "err": 2}
# What damaged compressed files raise.
DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)


def _of_streams(decompressor: Callable[[], Any]) -> Callable[[Any], Any]:
    """An opener to which damage in a later stream is an error; `bz2` and `lzma` take it for the end."""
    return lambda stream: io.BufferedReader(DecompressReader(stream, decompressor))


def _zstandard(stream: IO[bytes]) -> Any:
    import pyarrow  # late, since a dry run of the pipeline reads this module, too

    return pyarrow.CompressedInputStream(stream, "zstd")


# Openers of compressed files, by the bytes that such files begin with. The last ones begin a Zstandard file
# whose first frame is to be skipped, as pzstd writes it.
OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": _of_streams(bz2.BZ2Decompressor),
    b"\xfd7zX": _of_streams(lzma.LZMADecompressor),
    b"\x28\xb5\x2f\xfd": _zstandard,
    **{bytes([number]) + b"\x2a\x4d\x18": _zstandard for number in range(0x50, 0x60)},
}


@contextmanager
def open_input(path: str | Path) -> Iterator[Any]:
    """Open a file as bytes, plain or compressed; its first bytes decide which. `-` is standard input.

    Raises:
        InputError: the file cannot be read, or its compressed content is damaged.
    """
    with ExitStack() as stack:
        try:
            opened = nullcontext(_standard("in")) if path == "-" else Path(path).open("rb")  # noqa: SIM115
            file = stack.enter_context(opened)
            magic = file.peek(4)[:4]
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        for beginning, opener in OPENERS.items():
            if magic.startswith(beginning):
                unpacked = _Unpacked(stack.enter_context(opener(file)), str(path))
                file = io.BufferedReader(unpacked, _READ_BYTES)
        yield file


class _Unpacked(io.RawIOBase):
    """A stream whose damage is an `InputError` that names the file."""

    def __init__(self, stream: Any, label: str) -> None:
        self._stream, self._label = stream, label

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read(len(buffer))
        except DAMAGE as error:
            cause = on_one_line(error) or type(error).__name__
            raise InputError(f"{self._label}: damaged: {cause}") from None
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def open_text(path: str) -> Iterator[IO[str]]:
    """Open text in UTF-8, in which bytes that are not UTF-8 become lone surrogates; see `open_input`.

    Lines end with a newline alone, and a byte order mark is dropped.
    """
    with open_input(path) as stream:
        if stream.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise InputError(f"{path}: is in UTF-16; save it in UTF-8")
        text = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="\n")
        try:
            yield text
        finally:
            with suppress(ValueError):
                text.detach()


def fault_of(text: str) -> str | None:
    """Why a line of `open_text` is no text; None if it is."""
    if "\0" in text:
        return "contains a NUL character, which is not valid in text"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        bad = ord(text[error.start])
        is_byte = 0xDC80 <= bad <= 0xDCFF
        return f"not UTF-8: byte 0x{bad & 0xFF:02x}" if is_byte else "has half of a surrogate pair"
    return None


def line_batches(
    path: str, size: int = _BATCH_LINES, on_bad: Callable[[int, str], None] | None = None
) -> Iterator[tuple[list[int] | range, list[str]]]:
    """Yield at most `size` lines at a time without their ends, and their numbers from 1.

    `on_bad` is told the number of a line that is no text, and why, and the line is left out.

    Raises:
        InputError: a line is no text, and there is no `on_bad`; see also `open_input`.
    """
    first = 1
    with open_text(path) as file:
        while raw := list(islice(file, size)):
            lines = [line.rstrip("\n").removesuffix("\r") for line in raw]
            numbers: list[int] | range = range(first, first + len(lines))
            if fault_of("".join(raw)):
                kept = []
                for number, line in zip(numbers, lines, strict=True):
                    if (cause := fault_of(line)) is None:
                        kept.append((number, line))
                    elif on_bad is None:
                        raise InputError(f"{path}:{number}: {cause}")
                    else:
                        on_bad(number, cause)
                numbers, lines = [number for number, _ in kept], [line for _, line in kept]
            yield numbers, lines
            first += len(raw)


def read_sentences(path: str) -> Iterator[str]:
    """Yield the lines of a text file; see `line_batches`."""
    for _, lines in line_batches(path):
        yield from lines


@contextmanager
def byte_output(path: str) -> Iterator[IO[bytes]]:
    """Open a binary file that gets its name only when it is complete; `-` is standard output.

    What is no regular file, such as a pipe or a device, is opened as it is.
    """
    if Path(path).suffix in COMPRESSED_SUFFIXES:
        raise InputError(f"{path}: output is not compressed; choose a name without {Path(path).suffix}")
    if Path(path).is_dir():
        raise InputError(f"{path}: cannot be written: it is a folder")
    with ExitStack() as stack:
        try:
            if path == "-" or is_special(path):
                file = _special(path)
                if path != "-":
                    stack.enter_context(file)
                stack.enter_context(unwritable_named("standard output" if path == "-" else path))
            else:
                file = stack.enter_context(stack.enter_context(atomic_output(path)).open("wb"))
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        yield file
        file.flush()


@contextmanager
def text_output(path: str) -> Iterator[IO[str]]:
    """Open a text file in UTF-8, whatever the terminal's encoding is; see `byte_output`."""
    with byte_output(path) as stream:
        file = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        try:
            yield file
            file.flush()
        finally:
            with suppress(OSError, ValueError):
                file.detach()


def is_special(path: str | Path) -> bool:
    """Whether a path leads to a device, a pipe or a descriptor of this process."""
    file = Path(path)
    is_other = file.exists() and not (file.is_file() or file.is_dir())
    return is_other or bool(_DESCRIPTOR.fullmatch(str(path)))


def _special(path: str) -> IO[bytes]:
    if path == "-":
        return _standard("out")
    named = _DESCRIPTOR.fullmatch(path)
    # A copy of the descriptor continues where the shell does.
    return os.fdopen(os.dup(int(named[1] or _STANDARD[named[2]])), "wb") if named else Path(path).open("wb")


def _standard(which: str) -> Any:
    stream = sys.stdin if which == "in" else sys.stdout
    if stream is None:
        raise InputError(f"standard {which}put is closed")
    return stream.buffer
