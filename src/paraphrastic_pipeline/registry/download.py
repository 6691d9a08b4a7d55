"""Fetch the files of the registry: each is complete, verified, and fetched once.

The file `NAME` has a lock beside it, see `registry.lock`. If the registry gives no sha256, the first download
must not be empty or a damaged archive, and later downloads must equal the first one. `NAME.part` and
`NAME.part.json` belong to a download in progress.
"""

import fcntl
import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

from paraphrastic.base.compressed import DamagedError
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic_pipeline.registry.archive import check_whole
from paraphrastic_pipeline.registry.datasets import RemoteFile, address_error
from paraphrastic_pipeline.registry.http import (
    CHUNK_BYTES,
    LEAST_BYTES,
    PartialFile,
    RefusedError,
    TransientError,
    receive,
)
from paraphrastic_pipeline.registry.lock import expected_digest, lock_path, write_lock

MANUAL = Path("resources/manual")

_log = logging.getLogger(__name__)


class _WrongBytesError(RefusedError):
    """The address delivered a complete file, but not the expected one."""


def fetch(
    file: RemoteFile,
    destination: str | Path,
    *,
    mirror: str | None = None,
    attempts: int = 5,
    timeout: float = 60.0,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Make sure that `destination` holds the verified file, and return its sha256.

    The file comes from `MANUAL`/DATASET/NAME or `MANUAL`/NAME if it is there, and otherwise from the first
    address that delivers it. With `mirror`, a folder or an http(s) address, `https://HOST/PATH` is read from
    `mirror`/HOST/PATH. If a failure may be temporary, the address is tried again after 1, 2, 4 … seconds, up
    to `attempts` times in a row; `LEAST_BYTES` new bytes start the count again. `timeout` is the longest
    silence in seconds, and fewer than `LEAST_BYTES` within it count as silence. Several processes may fetch
    the same file at once.

    If no address delivers the file, an `InputError` lists them with their causes on one line.
    """
    destination = Path(destination)
    by_hand = _by_hand(file)
    if by_hand is None:
        sources = [source_of(address, mirror) for address in file.addresses]
    else:
        sources = [(str(by_hand), by_hand)]

    def obtain(location: str | Path, part: PartialFile, expected: str | None) -> str:
        """Fill `part`, and return the sha256 of its content."""
        if isinstance(location, Path):
            _copy(location, part)
            try:
                return _check(part, file, expected, destination)
            except TransientError as error:
                raise RefusedError(str(error)) from None  # copying again would give the same
        failures, furthest = 0, part.size
        while True:
            resumed = part.size > 0
            try:
                receive(location, part, size=file.size, timeout=timeout)
                return _check(part, file, expected, destination)
            except TransientError as error:
                cause = str(error)
            except _WrongBytesError:
                if not resumed:
                    raise
                cause = "the part that was already here does not belong to the file"
            failures = failures + 1 if part.size < furthest + LEAST_BYTES else 1
            furthest = max(furthest, part.size)
            if failures >= attempts:
                raise RefusedError(f"{cause} ({failures} attempts)")
            _log.info("%s: %s: trying again", location, cause)
            sleep(2 ** (failures - 1))

    if digest := _verified(file, destination, by_hand):
        return digest
    with _exclusive(destination.with_name(destination.name + ".part")) as part:
        if digest := _verified(file, destination, by_hand):
            return digest  # another process was faster
        if destination.exists():
            _log.warning("%s: damaged, or not the version of the registry: fetching it again", destination)
        expected = expected_digest(file, destination)
        causes = []
        for label, location in sources:
            try:
                digest = obtain(location, part, expected)
            except RefusedError as error:
                causes.append(f"{label}: {error}")
                _log.info("%s: %s", destination, causes[-1])
                continue
            try:
                os.fsync(part.stream.fileno())
                part.path.replace(destination)
                part.note.unlink(missing_ok=True)
                write_lock(destination, digest=digest, address=label, version=file.version)
            except OSError as error:
                raise InputError(f"{destination}: cannot be written: {error.strerror}") from None
            return digest
    if by_hand is not None:
        raise InputError(causes[0])
    by_hand = MANUAL / file.dataset / file.name if file.name_is_shared else MANUAL / file.name
    advice = "" if file.shipped else f"; or put the file by hand into {by_hand}"
    raise InputError(f"{destination}: could not be fetched: {'; '.join(causes)}{advice}")


def source_of(address: str, mirror: str | None) -> tuple[str, str | Path]:
    """An address's name in messages, and the place it is read from, which is in `mirror` if that is set."""
    if error := address_error(address):
        raise InputError(f"{address}: {error}")
    parts = urlsplit(address)
    if parts.scheme == "file":
        return address, Path(unquote(parts.path))
    if mirror is None:
        return address, address
    query = f"?{parts.query}" if parts.query else ""
    if mirror.lower().startswith(("http://", "https://")):
        location: str | Path = f"{mirror.rstrip('/')}/{parts.netloc}{parts.path}{query}"
        if error := address_error(str(location)):
            raise InputError(f"mirror: {mirror!r}: {error}")
    elif Path(mirror).is_dir():
        location = Path(mirror, parts.netloc, unquote(parts.path).lstrip("/") + query)
    else:
        raise InputError(f"mirror: {mirror!r} is neither a folder nor an http(s) address")
    return f"{address} (read from {location})", location


def _by_hand(file: RemoteFile) -> Path | None:
    """The file that the user put into `MANUAL`, if there is one for this data set."""
    own, common = MANUAL / file.dataset / file.name, MANUAL / file.name
    if own.is_file():
        return own
    if file.shipped or not common.is_file():
        return None
    if file.name_is_shared:
        raise InputError(
            f"{common}: several data sets have a file with this name: move it to {own} if it belongs there"
        )
    return common


def _verified(file: RemoteFile, destination: Path, by_hand: Path | None) -> str | None:
    """The sha256 of `destination` if it is known to be the right file."""
    if not (destination.is_file() and lock_path(destination).exists()):
        return None
    expected = expected_digest(file, destination)
    held = (destination,) if by_hand is None else (destination, by_hand)
    return expected if expected is not None and all(sha256(path) == expected for path in held) else None


def _copy(source: Path, part: PartialFile) -> None:
    part.clear()
    if not source.is_file():
        raise RefusedError("not a file" if source.exists() else "no such file")
    try:
        stream = source.open("rb")
    except OSError as error:
        raise RefusedError(str(error.strerror)) from None
    with stream:
        part.append(lambda: stream.read(CHUNK_BYTES))


def _check(part: PartialFile, file: RemoteFile, expected: str | None, destination: Path) -> str:
    """Check a finished partial file and return its sha256; if it is not as expected, empty it.

    If no digest is known yet, an empty or damaged file is a `TransientError`: otherwise its lock would insist
    on a bad download forever.
    """
    size = part.size
    part.stream.seek(0)
    digest = hashlib.file_digest(part.stream, "sha256").hexdigest()
    try:
        if file.size is not None and size != file.size:
            raise _WrongBytesError(f"has {size} bytes, the registry says {file.size}")
        if expected not in (None, digest):
            lock = lock_path(destination)
            first = f"the first download had {expected}: delete {lock} to accept the new file"
            wanted = f"the registry says {expected}" if file.sha256 else first
            raise _WrongBytesError(f"its sha256 is {digest}, {wanted}")
        if expected is None and size == 0:
            raise TransientError("the file is empty")
        if expected is None:
            check_whole(part.path, file.name)
    except InputError as error:
        part.clear()
        kind = TransientError if isinstance(error, DamagedError) else RefusedError
        raise kind(str(error).removeprefix(f"{part.path}: ")) from None
    except (TransientError, RefusedError):
        part.clear()
        raise
    return digest


@contextmanager
def _exclusive(path: Path) -> Iterator[PartialFile]:
    """Open the partial file for appending once no other process holds it; an empty file is removed again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            stream = path.open("a+b", buffering=0)
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _log.info("%s: another process is fetching it: waiting", path)
                fcntl.flock(stream, fcntl.LOCK_EX)
            if _is_open_as(stream, path):
                break
            stream.close()  # another process has finished and renamed what we waited for
    except OSError as error:
        raise InputError(f"{path}: cannot be opened for writing: {error.strerror}") from None
    with stream:
        part = PartialFile(stream)
        try:
            yield part
        finally:
            if _is_open_as(stream, path) and part.size == 0:
                path.unlink()


def _is_open_as(stream: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False
