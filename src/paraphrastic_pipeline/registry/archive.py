"""Read archives and compressed files from unknown sources, without trusting them.

Nothing is unpacked to the disk; members of a corpus are read as streams. If data is damaged or unpacks to
more than its bound, an `InputError` names the file and the cause.
"""

import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from paraphrastic.base.compressed import (
    COMPRESSED_SUFFIXES,
    DAMAGE,
    OPENERS,
    DamagedError,
    bounded,
    damage_named,
    first_bytes,
    open_stream,
)
from paraphrastic.base.errors import InputError

_Archive = zipfile.ZipFile | tarfile.TarFile

_READ_BYTES = 1 << 16
# A zip begins with a member, or with the end of its directory if it has none.
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# No corpus has so many files. Even empty ones cost memory for their names.
_MAX_MEMBERS = 100_000
# Long names and attributes in a tar, which `tarfile` reads into memory before anyone can check them.
_TAR_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
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
                held = ", ".join(list(files)[:10]) + (
                    f" and {len(files) - 10} more" if len(files) > 10 else ""
                )
                raise InputError(
                    f"{path}: has no member {' or '.join(possible)}; it holds {held or 'no files'}"
                )
            _check_size(f"{path}: {name}", [files[name]], max_bytes)
            # One handle per member: reading a compressed tar in turns takes one decompressor each.
            handle = stack.enter_context(_opened(path))
            streams.append(stack.enter_context(_open_file(handle, files[name], path, max_bytes)))
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
        sizes = {name: info.file_size for name, info in _files(archive, path).items()}
    if not sizes:
        raise InputError(f"{path}: holds no files")
    with open_members(path, [max(sizes, key=lambda name: sizes[name])], max_bytes=max_bytes) as (stream,):
        yield stream


def read_members(
    path: str | Path, wanted: Callable[[PurePosixPath], bool], *, max_bytes: int
) -> dict[PurePosixPath, bytes]:
    """Read the wanted files of a zip or (compressed) tar archive, by name and in the archive's order.

    Together they may have at most `max_bytes` bytes.
    """
    path = Path(path)
    with _opened(path) as archive:
        files = {PurePosixPath(name): info for name, info in _files(archive, path).items()}
        found = {name: info for name, info in files.items() if wanted(name)}
        _check_size(path, found.values(), max_bytes)
        contents = {}
        for name, info in found.items():
            with _open_file(archive, info, path, max_bytes) as stream:
                contents[name] = stream.read()
    return contents


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
        with _opened(path, zipped=True) as archive:
            files = _files(archive, path).values()
            _check_size(path, files, bound)
            for info in files:
                with _open_file(archive, info, path, bound) as stream:
                    while stream.read(_READ_BYTES):
                        pass
        return
    if not packed and not first_bytes(path).startswith(tuple(OPENERS)):
        raise DamagedError(f"{path}: damaged: not a compressed file, although its name says so")
    with open_stream(path, max_bytes=bound) as stream:
        if packed:
            with damage_named(str(path)):
                tar = tarfile.open(fileobj=stream, mode="r|", tarinfo=_TarInfo)  # noqa: SIM115
            _files(tar, path)
        while stream.read(_READ_BYTES):
            pass


class _TarInfo(tarfile.TarInfo):
    """A tar member that is refused if its header could fill the memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:  # tarfile's source invites overriding it
        large = self.type in _TAR_HEADERS and self.size > _MAX_HEADER_BYTES
        if large or self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError(f"a header of {self.size} bytes" if large else "a sparse file")
        return super()._proc_member(archive)  # type: ignore[misc]


def _is_zip(path: Path, name: str) -> bool:
    """Whether a file begins as a zip does, or is called one and begins as no archive does."""
    magic = first_bytes(path)
    called = name.lower().endswith(".zip") and not magic.startswith(tuple(OPENERS))
    return magic.startswith(_ZIP) or (called and not tarfile.is_tarfile(path))


@contextmanager
def _opened(path: Path, zipped: bool = False) -> Iterator[_Archive]:
    zipped = zipped or _is_zip(path, path.name)
    archive: _Archive
    with damage_named(str(path)):
        # The `with` statement below closes it.
        archive = zipfile.ZipFile(path) if zipped else tarfile.open(path, tarinfo=_TarInfo)  # noqa: SIM115
    with archive:
        yield archive


def _files(archive: _Archive, path: Path) -> dict[str, Any]:
    """The archive's information on each of its files, by name; the last file with a name counts."""
    with damage_named(str(path)):
        if isinstance(archive, tarfile.TarFile):
            members: list[Any] = list(islice(archive, _MAX_MEMBERS + 1))
            files: dict[str, Any] = {info.name: info for info in members if info.isreg()}
        else:
            members = archive.infolist()
            files = {info.filename: info for info in members if _is_file(info)}
    if len(members) > _MAX_MEMBERS:
        raise InputError(f"{path}: has more than {_MAX_MEMBERS} members")
    return files


def _is_file(info: zipfile.ZipInfo) -> bool:
    """Whether a zip's member is a regular file, since its Unix mode, if it has one, may mark it as a link."""
    return not info.is_dir() and stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)


def _open_file(archive: _Archive, info: Any, path: Path, max_bytes: int) -> BinaryIO:
    if isinstance(archive, tarfile.TarFile):
        label, opener = f"{path}: {info.name}", cast(Any, archive.extractfile)
    else:
        label, opener = f"{path}: {info.filename}", archive.open
    with damage_named(label):
        stream = opener(info)
    return bounded(stream, label, max_bytes)


def _check_size(label: str | Path, infos: Iterable[Any], max_bytes: int) -> None:
    sizes = (info.size if isinstance(info, tarfile.TarInfo) else info.file_size for info in infos)
    if (total := sum(sizes)) > max_bytes:
        raise InputError(f"{label}: {total} bytes, more than the bound of {max_bytes}")
