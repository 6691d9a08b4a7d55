"""Read archives and compressed files that came from elsewhere, without trusting them.

Nothing is unpacked to the disk; members of a corpus are read as streams. Damaged data, and data that
grows past its bound, is an `InputError` that names the file and the cause.
"""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, cast

from paraphrastic.base.errors import InputError

_Archive = zipfile.ZipFile | tarfile.TarFile

_READ_BYTES = 1 << 16
# More files than any corpus has; empty ones cost nothing but the memory of their names.
_MAX_MEMBERS = 100_000
# Long names and attributes of a tar, which are read into memory before anything can be asked of them.
_TAR_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_MAX_HEADER_BYTES = 1 << 20
_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst")
_COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
# What a check reads at most, in times the file's size and at least in bytes: no text is packed more tightly.
_MAX_RATIO, _MIN_BOUND = 1000, 1 << 30
_DAMAGE = (
    EOFError,
    OSError,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,  # a zip's member is encrypted, or (NotImplementedError) packed by an unknown method
    IndexError,  # a zip's member has no name
    UnicodeDecodeError,  # or one that is not the UTF-8 that it says
)


class DamagedError(InputError):
    """An archive or compressed file that cannot be read to its end."""


@contextmanager
def open_stream(path: str | Path, *, max_bytes: int) -> Iterator[BinaryIO]:
    """Open a gzip, bzip2, xz, Zstandard or plain file, told by its first bytes, as a stream of its content.

    The content may have at most `max_bytes` bytes.
    """
    path = Path(path)
    with ExitStack() as stack:
        stream: Any
        stream, magic = _opened_file(path)
        stack.enter_context(stream)
        for beginning, opener in _OPENERS.items():
            if magic.startswith(beginning):
                stream = stack.enter_context(opener(stream))
        yield stack.enter_context(_bounded(stream, str(path), max_bytes))


@contextmanager
def open_members(
    path: str | Path, names: Sequence[str | tuple[str, ...]], *, max_bytes: int
) -> Iterator[tuple[BinaryIO, ...]]:
    """Open members of a zip or (compressed) tar archive as streams, in the order of `names`.

    A tuple in `names` lists the names that one member may have: the first that is there is taken. Each
    member may have at most `max_bytes` bytes. The streams may be read in turns. A missing member is an
    `InputError` that says what the archive holds.
    """
    path = Path(path)
    with ExitStack() as stack:
        with _opened(path) as archive:
            entries = {entry.name: entry for entry in _entries(archive, path) if entry.is_file}
        streams = []
        for name in names:
            entry = _choose(path, (name,) if isinstance(name, str) else name, entries)
            _check_size(f"{path}: {entry.name}", [entry], max_bytes)
            # One handle a member: a compressed tar is read in turns only with one decompressor each.
            handle = stack.enter_context(_opened(path))
            streams.append(stack.enter_context(_open_entry(handle, entry, path, max_bytes)))
        yield tuple(streams)


def read_members(
    path: str | Path, wanted: Callable[[PurePosixPath], bool], *, max_bytes: int
) -> dict[PurePosixPath, bytes]:
    """Read the wanted files of a zip or (compressed) tar archive, in its order, by their names in it.

    Together they may have at most `max_bytes` bytes.
    """
    path = Path(path)
    with _opened(path) as archive:
        found = {
            name: entry
            for entry in _entries(archive, path)
            if entry.is_file and wanted(name := PurePosixPath(entry.name))
        }
        _check_size(path, found.values(), max_bytes)
        contents = {}
        for name, entry in found.items():
            with _open_entry(archive, entry, path, max_bytes) as stream:
                contents[name] = stream.read()
    return contents


def check_whole(path: str | Path, name: str) -> None:
    """Read an archive or a compressed file, as the end of `name` says, to its end; other files are not read.

    One that is cut off, damaged, or neither is a `DamagedError`; one that could not be unpacked within bounds
    is another `InputError`.
    """
    path, name = Path(path), name.lower()
    if not name.endswith((".zip", *_TAR_SUFFIXES, *_COMPRESSED_SUFFIXES)):
        return
    bound = max(_MIN_BOUND, _MAX_RATIO * path.stat().st_size)
    magic = _first_bytes(path)
    if name.endswith(".zip") or (magic.startswith(b"PK") and name.endswith(_TAR_SUFFIXES)):
        with _opened(path, zipped=True) as archive:
            entries = _entries(archive, path)
            _check_size(path, entries, bound)
            for entry in entries:
                with _open_entry(archive, entry, path, bound) as stream:
                    _read_through(stream)
        return
    if not name.endswith(_TAR_SUFFIXES) and not magic.startswith(tuple(_OPENERS)):
        raise DamagedError(f"{path}: damaged: not a compressed file, as its name says")
    with open_stream(path, max_bytes=bound) as stream:
        if name.endswith(_TAR_SUFFIXES):
            with _damage_named(str(path)):
                tar = tarfile.open(fileobj=stream, mode="r|", tarinfo=_TarInfo)  # noqa: SIM115
            _entries(tar, path)
        _read_through(stream)


def _read_through(stream: BinaryIO) -> None:
    while stream.read(_READ_BYTES):
        pass


class _Bzip2(io.RawIOBase):
    """The content of a bzip2 file, of one stream or several.

    Python's own `BZ2File` takes whatever follows a stream and is none for the end of the file, so that a
    later stream whose head is damaged would be lost with all that comes after it.
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
    # Not at the top: Python itself has Zstandard from 3.14 on, and few files are in it.
    try:
        import pyarrow
    except ImportError:
        cause = "reading Zstandard takes pyarrow; pip install 'paraphrastic[pipeline]'"
        raise InputError(f"{stream.name}: {cause}") from None
    return pyarrow.CompressedInputStream(stream, "zstd")


# What opens a compressed file that begins with these bytes.
_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": _Bzip2,
    b"\xfd7zX": lzma.open,
    b"\x28\xb5\x2f\xfd": _zstandard,
}


class _Bounded(io.RawIOBase):
    """The bytes of another stream, until there are more than `max_bytes` of them."""

    def __init__(self, stream: IO[bytes], label: str, max_bytes: int) -> None:
        self._stream = stream
        self._label = label
        self._max_bytes = max_bytes
        self._count = 0

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

    def close(self) -> None:
        self._stream.close()
        super().close()


def _bounded(stream: IO[bytes], label: str, max_bytes: int) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Bounded(stream, label, max_bytes), _READ_BYTES))


@contextmanager
def _damage_named(label: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        cause = " ".join(str(error).split()) or type(error).__name__
        raise DamagedError(f"{label}: damaged: {cause}") from None


@dataclass(frozen=True, slots=True)
class _Entry:
    """One member as its archive describes it; `size` in bytes when unpacked."""

    name: str
    size: int
    is_file: bool
    info: Any


class _TarInfo(tarfile.TarInfo):
    """A member of a tar whose header is not large enough to fill the memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:  # made to be overridden, as its source says
        large = self.type in _TAR_HEADERS and self.size > _MAX_HEADER_BYTES
        if large or self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError(f"a header of {self.size} bytes" if large else "a sparse file")
        return super()._proc_member(archive)  # type: ignore[misc]


@contextmanager
def _opened(path: Path, zipped: bool = False) -> Iterator[_Archive]:
    zipped = zipped or _first_bytes(path).startswith(b"PK") or path.suffix == ".zip"
    archive: _Archive
    with _damage_named(str(path)):
        # Closed below.
        archive = zipfile.ZipFile(path) if zipped else tarfile.open(path, tarinfo=_TarInfo)  # noqa: SIM115
    with archive:
        yield archive


def _entries(archive: _Archive, path: Path) -> list[_Entry]:
    with _damage_named(str(path)):
        if isinstance(archive, tarfile.TarFile):
            found = (_Entry(i.name, i.size, i.isreg(), i) for i in archive)
        else:
            found = (
                _Entry(i.filename, i.file_size, not i.is_dir() and _plain(i), i) for i in archive.infolist()
            )
        entries = list(islice(found, _MAX_MEMBERS + 1))
    if len(entries) > _MAX_MEMBERS:
        raise InputError(f"{path}: has more than {_MAX_MEMBERS} members")
    return entries


def _plain(info: zipfile.ZipInfo) -> bool:
    """Whether a zip's member is a file; its Unix mode, where it has one, may say that it is a link."""
    return stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)


def _open_entry(archive: _Archive, entry: _Entry, path: Path, max_bytes: int) -> BinaryIO:
    label = f"{path}: {entry.name}"
    opener: Any = archive.extractfile if isinstance(archive, tarfile.TarFile) else archive.open
    with _damage_named(label):
        stream = opener(entry.info)
    return _bounded(stream, label, max_bytes)


def _choose(path: Path, names: tuple[str, ...], entries: dict[str, _Entry]) -> _Entry:
    for name in names:
        if name in entries:
            return entries[name]
    held = ", ".join(list(entries)[:10]) + (f" and {len(entries) - 10} more" if len(entries) > 10 else "")
    raise InputError(f"{path}: has no member {' or '.join(names)}; it holds {held or 'no files'}")


def _check_size(label: str | Path, entries: Iterable[_Entry], max_bytes: int) -> None:
    if (total := sum(entry.size for entry in entries)) > max_bytes:
        raise InputError(f"{label}: {total} bytes, more than the bound of {max_bytes}")


def _opened_file(path: Path) -> tuple[IO[bytes], bytes]:
    """A file, and the bytes that it begins with, which are still to be read: from a pipe, they come once."""
    try:
        file = path.open("rb")
        return file, file.peek(4)[:4]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _first_bytes(path: Path) -> bytes:
    file, magic = _opened_file(path)
    file.close()
    return magic
