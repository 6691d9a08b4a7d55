"""Compressed files from unknown sources as streams, whose damage and size are known.

If data is damaged or unpacks to more than its bound, an `InputError` names the file and the cause.
"""

import io
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from paraphrastic.base import text_files
from paraphrastic.base.errors import InputError, on_one_line

_READ_BYTES = 1 << 16
# What damaged files raise, those of archives included. In a zip, a member may be encrypted or packed with an
# unknown method (NotImplementedError), may have no name, or one that is not UTF-8.
DAMAGE = (
    *text_files.DAMAGE, tarfile.TarError, zipfile.BadZipFile, RuntimeError, IndexError, UnicodeDecodeError,
)  # fmt: skip


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
        for beginning, opener in text_files.OPENERS.items():
            if magic.startswith(beginning):
                stream = stack.enter_context(opener(stream))
        yield stack.enter_context(bounded(stream, str(path), max_bytes))


class _Bounded(io.RawIOBase):
    def __init__(self, stream: IO[bytes], label: str, max_bytes: int) -> None:
        self._stream, self._label, self._max_bytes, self._count = stream, label, max_bytes, 0

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
    """A stream in which more than `max_bytes` bytes are an `InputError`; `label` names it in errors."""
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
