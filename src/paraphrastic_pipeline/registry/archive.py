"""Read archives and compressed files from unknown sources, without trusting them.

Nothing is unpacked to the disk: members are read as streams, each with a bound on its bytes. If data is
damaged or unpacks to more than its bound, an `InputError` names the file and the cause.
"""

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, cast

from paraphrastic.base import text_files
from paraphrastic.base.errors import InputError, on_one_line

_READ_BYTES = 1 << 16
# A zip begins with a member, or with the end of its directory if it has none.
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# What damaged archives raise. In a zip, a member may be encrypted or packed with an unknown method
# (NotImplementedError), and a name may be missing or not UTF-8.
_DAMAGE = (
    *text_files.DAMAGE, tarfile.TarError, zipfile.BadZipFile, RuntimeError, IndexError, UnicodeDecodeError,
)  # fmt: skip


@contextmanager
def open_stream(path: str | Path, *, max_bytes: int) -> Iterator[BinaryIO]:
    """Open a gzip, bzip2, xz, Zstandard or plain file as a stream of its content.

    Its first bytes decide which it is. The content may have at most `max_bytes` bytes.
    """
    with text_files.open_input(path) as stream:
        yield _bounded(stream, str(path), max_bytes)


@contextmanager
def open_members(
    path: str | Path, names: Sequence[str | tuple[str, ...]], *, max_bytes: int
) -> Iterator[tuple[BinaryIO, ...]]:
    """Open members of a zip or (compressed) tar archive as streams, in the order of `names`.

    A tuple in `names` lists the names that one member may have, and the first that exists is used. Each
    member may have at most `max_bytes` bytes. The streams may be read in turns. If a member is missing, an
    `InputError` says what the archive contains.
    """
    with _opened(path) as archive:
        held = [name for name, _ in _files(archive, path)]
    with ExitStack() as stack:
        streams = []
        for possible in ((name,) if isinstance(name, str) else name for name in names):
            name = next((name for name in possible if name in held), None)
            if name is None:
                more = f" and {len(held) - 10} more" if len(held) > 10 else ""
                listed = ", ".join(held[:10]) + more or "no files"
                raise InputError(f"{path}: has no member {' or '.join(possible)}; it holds {listed}")
            # Each member has the archive to itself: a compressed tar can only be read from its beginning.
            archive = stack.enter_context(_opened(path))
            info = next(info for other, info in _files(archive, path) if other == name)
            streams.append(_open_file(archive, info, f"{path}: {name}", max_bytes))
        yield tuple(streams)


@contextmanager
def open_largest(path: str | Path, *, max_bytes: int) -> Iterator[BinaryIO]:
    """Open the largest member of a zip archive as a stream, or any other file as `open_stream` does.

    Checksums of members are not checked, because the published archive of PARAGRAM-SL999 has a wrong one.
    """
    with _opened(path) as archive:
        if isinstance(archive, zipfile.ZipFile):
            files = [info for _, info in _files(archive, path)]
            if not files:
                raise InputError(f"{path}: holds no files")
            largest = max(files, key=lambda info: int(info.file_size))
            del largest.CRC
            yield _open_file(archive, largest, f"{path}: {largest.filename}", max_bytes)
            return
    with open_stream(path, max_bytes=max_bytes) as stream:
        yield stream


def read_members(
    path: str | Path, wanted: Callable[[PurePosixPath], bool], *, max_bytes: int
) -> dict[PurePosixPath, bytes]:
    """Read the wanted files of a zip or (compressed) tar archive, by name and in the archive's order.

    Together they may have at most `max_bytes` bytes.
    """
    contents: dict[PurePosixPath, bytes] = {}
    with _opened(path) as archive:
        for name, info in _files(archive, path):
            if wanted(member := PurePosixPath(name)):
                contents[member] = _open_file(archive, info, f"{path}: {name}", max_bytes).read()
                max_bytes -= len(contents[member])
    return contents


def member_names(path: str | Path) -> list[str] | None:
    """The names of the files in a zip or (compressed) tar archive; None if a file is neither.

    The content decides, not the name.
    """
    with _opened(path) as archive:
        return None if archive is None else [name for name, _ in _files(archive, path)]


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    """A file as a `ZipFile` or as a `TarFile`, which can be read only once; None if it is neither."""
    with ExitStack() as stack:
        file = stack.enter_context(text_files.open_input(path))
        archive: Any = None
        if file.peek(4)[:4] in _ZIP:
            with _damage_named(str(path)):
                archive = stack.enter_context(zipfile.ZipFile(path))
        else:
            with suppress(tarfile.TarError):
                archive = stack.enter_context(tarfile.open(fileobj=file, mode="r|", bufsize=_READ_BYTES))
        yield archive


def _files(archive: Any, path: str | Path) -> Iterator[tuple[str, Any]]:
    """Name of each file in an archive, and what the archive knows of it; links and devices are no files."""
    if archive is None:
        raise InputError(f"{path}: damaged: neither a zip nor a tar archive")
    with _damage_named(str(path)):
        if isinstance(archive, zipfile.ZipFile):
            yield from ((info.filename, info) for info in archive.infolist() if not info.is_dir())
        else:
            yield from ((info.name, info) for info in archive if info.isreg())


def _open_file(archive: Any, info: Any, label: str, max_bytes: int) -> BinaryIO:
    with _damage_named(label):
        is_zip = isinstance(archive, zipfile.ZipFile)
        return _bounded(archive.open(info) if is_zip else archive.extractfile(info), label, max_bytes)


class _Bounded(io.RawIOBase):
    def __init__(self, stream: IO[bytes], label: str, max_bytes: int) -> None:
        self._stream, self._label, self._max_bytes, self._count = stream, label, max_bytes, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        with _damage_named(self._label):
            data = self._stream.read(len(buffer))
        self._count += len(data)
        if self._count > self._max_bytes:
            raise InputError(f"{self._label}: grows past the bound of {self._max_bytes} bytes")
        buffer[: len(data)] = data
        return len(data)


def _bounded(stream: IO[bytes], label: str, max_bytes: int) -> BinaryIO:
    """A stream in which more than `max_bytes` bytes are an `InputError`; `label` names it in errors."""
    return cast(BinaryIO, io.BufferedReader(_Bounded(stream, label, max_bytes), _READ_BYTES))


@contextmanager
def _damage_named(label: str) -> Iterator[None]:
    """Turn what damaged data raise into an `InputError` that begins with `label`."""
    try:
        yield
    except _DAMAGE as error:
        raise InputError(f"{label}: damaged: {on_one_line(error) or type(error).__name__}") from None
