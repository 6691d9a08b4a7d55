"""Read archives and compressed files from unknown sources, without trusting them.

Nothing is unpacked to the disk: content is read as streams, with a bound on its bytes. If data is damaged or
unpacks to more than its bound, an `InputError` names the file and the cause.
"""

import io
import tarfile
import zipfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO

from paraphrastic.base import text_files
from paraphrastic.base.errors import InputError, cut, on_one_line

_READ_BYTES = 1 << 16
# A zip begins with a member, or with the end of its directory if it has none.
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# What damaged archives raise. In a zip, a member may be encrypted or packed with an unknown method
# (NotImplementedError), a name may be missing or not UTF-8, and there may be no file.
_DAMAGE = (*text_files.DAMAGE, tarfile.TarError, zipfile.BadZipFile, RuntimeError, IndexError, ValueError)


@contextmanager
def open_stream(path: str | Path, *, max_bytes: int, in_zip: bool = False) -> Iterator[BinaryIO]:
    """Open a gzip, bzip2, xz, Zstandard or plain file as a stream of its content.

    Its first bytes decide which it is. The content may have at most `max_bytes` bytes. With `in_zip`, a zip
    archive stands for its largest file, whose checksum is not checked: PARAGRAM-SL999 has a wrong one.
    """
    with ExitStack() as stack:
        stream, label = stack.enter_context(text_files.open_input(path)), str(path)
        if in_zip and stream.peek(4)[:4] in _ZIP:
            with _damage_named(label):
                archive = stack.enter_context(zipfile.ZipFile(path))
                largest = max(archive.infolist(), key=lambda info: info.file_size)
                del largest.CRC
                stream, label = archive.open(largest), f"{path}: {largest.filename}"
        yield io.BufferedReader(_Bounded(lambda: stream, label, max_bytes), _READ_BYTES)


def files_in(path: str | Path, *, max_bytes: int) -> Generator[tuple[str, BinaryIO], None, None]:
    """Yield the files in a zip or (compressed) tar archive, in its order: their names and their content.

    A stream can be read until the next one is asked for. All that is read may have at most `max_bytes` bytes.
    Links and devices are no files.
    """
    with ExitStack() as stack, _damage_named(str(path)):
        files: Iterator[tuple[str, Callable[[], Any]]]
        content = stack.enter_context(text_files.open_input(path))
        if content.peek(4)[:4] in _ZIP:
            packed = stack.enter_context(zipfile.ZipFile(path))
            infos = (info for info in packed.infolist() if not info.is_dir())
            files = ((info.filename, partial(packed.open, info)) for info in infos)
        else:
            tar = stack.enter_context(tarfile.open(fileobj=content, mode="r|", bufsize=_READ_BYTES))
            files = ((info.name, partial(tar.extractfile, info)) for info in tar if info.isreg())
        for name, opener in files:
            stream = _Bounded(opener, f"{path}: {name}", max_bytes)
            yield name, io.BufferedReader(stream, _READ_BYTES)
            max_bytes -= stream.count


@contextmanager
def open_members(
    path: str | Path, names: Sequence[str | tuple[str, ...]], *, max_bytes: int
) -> Iterator[tuple[BinaryIO, ...]]:
    """Open members of an archive as streams, in the order of `names`, which may be read in turns.

    A tuple in `names` lists the names that one member may have. Each member may have at most `max_bytes`
    bytes. If one is missing, an `InputError` says what the archive contains.
    """
    with ExitStack() as stack:
        streams = []
        for name in names:
            possible = (name,) if isinstance(name, str) else name
            # Each member has the archive to itself: a compressed tar can only be read from its beginning.
            files = stack.enter_context(closing(files_in(path, max_bytes=max_bytes)))
            stream = next((stream for other, stream in files if other in possible), None)
            if stream is None:
                held = cut(", ".join(other for other, _ in files_in(path, max_bytes=0))) or "no files"
                raise InputError(f"{path}: has no member {' or '.join(possible)}; it holds {held}")
            streams.append(stream)
        yield tuple(streams)


class _Bounded(io.RawIOBase):
    """What `opener` opens when it is first read; more than `max_bytes` bytes are an `InputError`."""

    def __init__(self, opener: Callable[[], Any], label: str, max_bytes: int) -> None:
        self._opened, self._label, self._max_bytes, self.count = cache(opener), label, max_bytes, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        with _damage_named(self._label):
            data = self._opened().read(len(buffer))
        self.count += len(data)
        if self.count > self._max_bytes:
            raise InputError(f"{self._label}: grows past the bound of {self._max_bytes} bytes")
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def _damage_named(label: str) -> Iterator[None]:
    """Turn what damaged data raise into an `InputError` that begins with `label`."""
    try:
        yield
    except _DAMAGE as error:
        raise InputError(f"{label}: damaged: {on_one_line(error) or type(error).__name__}") from None
