"""Compressed files from unknown sources as streams, whose damage and size are known.

If data is damaged or unpacks to more than its bound, an `InputError` names the file and the cause.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from paraphrastic.base.errors import InputError, on_one_line

COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
_READ_BYTES = 1 << 16
# What damaged files raise, those of archives included.
DAMAGE = (
    EOFError,
    OSError,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,  # a zip's member is encrypted, or (NotImplementedError) packed with an unknown method
    IndexError,  # a zip's member has no name
    UnicodeDecodeError,  # a zip's member claims a UTF-8 name that is not UTF-8
)


class DamagedError(InputError):
    """An archive or compressed file that cannot be read to its end."""


@contextmanager
def open_stream(path: str | Path, *, max_bytes: int) -> Iterator[BinaryIO]:
    """Open a gzip, bzip2, xz, Zstandard or plain file as a stream of its content.

    Its first bytes decide which it is. The content may have at most `max_bytes` bytes.
    """
    path = Path(path)
    with ExitStack() as stack:
        stream: Any
        stream, magic = _opened_file(path)
        stack.enter_context(stream)
        for beginning, opener in OPENERS.items():
            if magic.startswith(beginning):
                stream = stack.enter_context(opener(stream))
        yield stack.enter_context(bounded(stream, str(path), max_bytes))


class _Bzip2(io.RawIOBase):
    """The content of a bzip2 file with one or several streams.

    Python's own `BZ2File` treats anything after a stream that is not another stream as the end of the file.
    It would silently drop a later stream with a damaged head, and everything after that.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decompressor = bz2.BZ2Decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = b""
        while not data:
            compressed = b""
            if self._decompressor.eof:
                compressed = self._decompressor.unused_data or self._stream.read(_READ_BYTES)
                if not compressed:
                    return 0
                self._decompressor = bz2.BZ2Decompressor()
            elif self._decompressor.needs_input:
                compressed = self._stream.read(_READ_BYTES)
                if not compressed:
                    raise EOFError("the file ended before the end of a bzip2 stream")
            data = self._decompressor.decompress(compressed, len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _zstandard(stream: IO[bytes]) -> Any:
    # Imported here, since few files need it. Python itself reads Zstandard from 3.14 on.
    try:
        import pyarrow
    except ImportError:
        cause = "reading Zstandard needs pyarrow, which is not installed; run pip install pyarrow"
        raise InputError(f"{stream.name}: {cause}") from None
    return pyarrow.CompressedInputStream(stream, "zstd")


# Openers of compressed files, by the bytes that such files begin with.
OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": _Bzip2,
    b"\xfd7zX": lzma.open,
    b"\x28\xb5\x2f\xfd": _zstandard,
}


class _Bounded(io.RawIOBase):
    """Passes on another stream; more than `max_bytes` bytes are an `InputError`."""

    def __init__(self, stream: IO[bytes], label: str, max_bytes: int) -> None:
        self._stream = stream
        self._label = label
        self._max_bytes = max_bytes
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        with damage_named(self._label):
            data = self._stream.read(len(buffer))
        self._count += len(data)
        if self._count > self._max_bytes:
            raise InputError(f"{self._label}: grows past the bound of {self._max_bytes} bytes")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def bounded(stream: IO[bytes], label: str, max_bytes: int) -> BinaryIO:
    """A stream that may have at most `max_bytes` bytes; `label` names it in errors."""
    return cast(BinaryIO, io.BufferedReader(_Bounded(stream, label, max_bytes), _READ_BYTES))


@contextmanager
def damage_named(label: str) -> Iterator[None]:
    """Turn what damaged data raise into a `DamagedError` that begins with `label`."""
    try:
        yield
    except DAMAGE as error:
        raise DamagedError(f"{label}: damaged: {on_one_line(error) or type(error).__name__}") from None


def _opened_file(path: Path) -> tuple[IO[bytes], bytes]:
    """Open a file and peek at its first bytes, which stay unread, since a pipe delivers them only once."""
    try:
        file = path.open("rb")
        return file, file.peek(4)[:4]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def first_bytes(path: Path) -> bytes:
    """The first four bytes of a file, or fewer if it is shorter."""
    file, magic = _opened_file(path)
    file.close()
    return magic
