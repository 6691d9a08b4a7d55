"""Read archives and compressed files from unknown sources, without trusting them.

Nothing is unpacked to the disk; members of a corpus are read as streams. If data is damaged or unpacks to
more than its bound, an `InputError` names the file and the cause.
"""

import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from paraphrastic.base.errors import InputError
from paraphrastic.base.text_files import COMPRESSED_SUFFIXES, OPENERS
from paraphrastic_pipeline.base.compressed import (
    DAMAGE,
    DamagedError,
    bounded,
    damage_named,
    first_bytes,
    open_stream,
)

_READ_BYTES = 1 << 16
# A zip begins with a member, or with the end of its directory if it has none.
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# No corpus has so many files. Even empty ones cost memory for their names.
_MAX_MEMBERS = 100_000
# Long names and attributes in a tar, which `tarfile` reads into memory before anyone can check them.
_TAR_HEADERS = (*tarfile.GNU_TYPES, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
_MAX_HEADER_BYTES = 1 << 20
_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst")
# A check reads at most this many times the size of the file, but at least this many bytes, since no text
# compresses better.
_MAX_RATIO, _MIN_BOUND = 1000, 1 << 30


@contextmanager
def open_members(
    path: str | Path, names: Sequence[str | tuple[str, ...]], *, max_bytes: int
) -> Iterator[tuple[BinaryIO, ...]]:
    """Open members of a zip or (compressed) tar archive as streams, in the order of `names`.

    A tuple in `names` lists the names that one member may have, and the first that exists is used. Each
    member may have at most `max_bytes` bytes. The streams may be read in turns. If a member is missing, an
    `InputError` says what the archive contains.
    """
    path = Path(path)
    with ExitStack() as stack:
        with _opened(path) as archive:
            files = _files(archive, path)
        streams = []
        for several in names:
            possible = (several,) if isinstance(several, str) else several
            name = next((name for name in possible if name in files), None)
            if name is None:
                more = f" and {len(files) - 10} more" if len(files) > 10 else ""
                held = ", ".join(list(files)[:10]) + more or "no files"
                raise InputError(f"{path}: has no member {' or '.join(possible)}; it holds {held}")
            size, info = files[name]
            _check_size(f"{path}: {name}", size, max_bytes)
            # One handle per member: reading a compressed tar in turns takes one decompressor each.
            handle = stack.enter_context(_opened(path))
            streams.append(stack.enter_context(_open_file(handle, info, f"{path}: {name}", max_bytes)))
        yield tuple(streams)


def member_names(path: str | Path) -> list[str] | None:
    """The names of the files in a zip or (compressed) tar archive; None if a file is neither.

    The content decides, not the name.
    """
    path = Path(path)
    if not _is_zip(path, path.name):
        try:
            tarfile.open(path, tarinfo=_TarInfo).close()
        except DAMAGE:
            # If nothing can be unpacked, no one can tell whether it was an archive.
            with open_stream(path, max_bytes=_READ_BYTES) as stream:
                stream.read(1)
            return None
    with _opened(path) as archive:
        return list(_files(archive, path))


@contextmanager
def open_largest(path: str | Path, *, max_bytes: int) -> Iterator[BinaryIO]:
    """Open the largest member of a zip archive as a stream, or any other file as `open_stream` does."""
    path = Path(path)
    if not _is_zip(path, path.name):
        with open_stream(path, max_bytes=max_bytes) as stream:
            yield stream
        return
    with _opened(path) as archive:
        files = _files(archive, path)
    if not files:
        raise InputError(f"{path}: holds no files")
    largest = max(files, key=lambda name: files[name][0])
    with open_members(path, [largest], max_bytes=max_bytes) as (stream,):
        yield stream


def read_members(
    path: str | Path, wanted: Callable[[PurePosixPath], bool], *, max_bytes: int
) -> dict[PurePosixPath, bytes]:
    """Read the wanted files of a zip or (compressed) tar archive, by name and in the archive's order.

    Together they may have at most `max_bytes` bytes.
    """
    return {name: stream.read() for name, stream in _contents(Path(path), wanted, max_bytes)}


def check_whole(path: str | Path, name: str) -> None:
    """Read a file to its end if `name` ends like that of an archive or a compressed file.

    A file that is truncated or damaged, or is not of the kind that `name` says, is a `DamagedError`. If it
    cannot be unpacked within bounds, that is another `InputError`.
    """
    path, name = Path(path), name.lower()
    packed = name.endswith((".zip", *_TAR_SUFFIXES))
    if not packed and not name.endswith(COMPRESSED_SUFFIXES):
        return
    bound = max(_MIN_BOUND, _MAX_RATIO * path.stat().st_size)
    if packed and _is_zip(path, name):
        for _, stream in _contents(path, lambda _: True, bound, zipped=True):
            _exhaust(stream)
        return
    if not packed and not first_bytes(path).startswith(tuple(OPENERS)):
        raise DamagedError(f"{path}: damaged: not a compressed file, although its name says so")
    with open_stream(path, max_bytes=bound) as stream:
        if packed:
            with damage_named(str(path)):
                tar = tarfile.open(fileobj=stream, mode="r|", tarinfo=_TarInfo)  # noqa: SIM115
            _files(tar, path)
        _exhaust(stream)


class _TarInfo(tarfile.TarInfo):
    """A tar member that is refused if its header could fill the memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:  # tarfile's source invites overriding it
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("a sparse file")
        if self.type in _TAR_HEADERS and self.size > _MAX_HEADER_BYTES:
            raise tarfile.ReadError(f"a header of {self.size} bytes")
        return super()._proc_member(archive)  # type: ignore[misc]


def _is_zip(path: Path, name: str) -> bool:
    """Whether a file begins as a zip does, or is called one and begins as no archive does."""
    magic = first_bytes(path)
    called = name.lower().endswith(".zip") and not magic.startswith(tuple(OPENERS))
    return magic.startswith(_ZIP) or (called and not tarfile.is_tarfile(path))


@contextmanager
def _opened(path: Path, zipped: bool = False) -> Iterator[Any]:
    """A file as a `ZipFile`, which it also is if `zipped` says so, or as a `TarFile`."""
    zipped = zipped or _is_zip(path, path.name)
    with damage_named(str(path)):
        # The `with` statement below closes it.
        archive: Any = zipfile.ZipFile(path) if zipped else tarfile.open(path, tarinfo=_TarInfo)  # noqa: SIM115
    with archive:
        yield archive


def _files(archive: Any, path: Path) -> dict[str, tuple[int, Any]]:
    """Size of each file in an archive, and what the archive knows of it; the last file with a name counts."""
    with damage_named(str(path)):
        tar = isinstance(archive, tarfile.TarFile)
        members = list(islice(archive if tar else archive.infolist(), _MAX_MEMBERS + 1))
        if len(members) > _MAX_MEMBERS:
            raise InputError(f"{path}: has more than {_MAX_MEMBERS} members")
        if tar:
            return {info.name: (info.size, info) for info in members if info.isreg()}
        return {info.filename: (info.file_size, info) for info in members if _is_file(info)}


def _is_file(info: zipfile.ZipInfo) -> bool:
    """Whether a zip's member is a regular file, since its Unix mode, if it has one, may mark it as a link."""
    return not info.is_dir() and stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)


def _contents(
    path: Path, wanted: Callable[[PurePosixPath], bool], max_bytes: int, zipped: bool = False
) -> Iterator[tuple[PurePosixPath, BinaryIO]]:
    """The wanted files of an archive as streams, which together have at most `max_bytes` bytes."""
    with _opened(path, zipped) as archive:
        files = {PurePosixPath(name): file for name, file in _files(archive, path).items()}
        chosen = {name: file for name, file in files.items() if wanted(name)}
        _check_size(str(path), sum(size for size, _ in chosen.values()), max_bytes)
        for name, (_, info) in chosen.items():
            with _open_file(archive, info, f"{path}: {name}", max_bytes) as stream:
                yield name, stream


def _open_file(archive: Any, info: Any, label: str, max_bytes: int) -> BinaryIO:
    with damage_named(label):
        opener: Any = archive.extractfile if isinstance(archive, tarfile.TarFile) else archive.open
        return bounded(opener(info), label, max_bytes)


def _check_size(label: str, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise InputError(f"{label}: {size} bytes, more than the bound of {max_bytes}")


def _exhaust(stream: BinaryIO) -> None:
    while stream.read(_READ_BYTES):
        pass
