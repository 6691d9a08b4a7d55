"""Fetch the files of the registry: each is whole, verified, and fetched once.

Beside `NAME` lies its lock, see `registry.lock`. Where the registry gives no sha256, the first download must
be neither an empty file nor a damaged archive, and later ones must agree with it. `NAME.part` and
`NAME.part.json` are a download in progress.
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

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic.registry.archive import DamagedError, check_whole
from paraphrastic.registry.datasets import RemoteFile, address_fault
from paraphrastic.registry.http import CHUNK, LEAST_BYTES, Part, RefusedError, TransientError, receive
from paraphrastic.registry.lock import expected_digest, lock_path, write_lock

MANUAL = Path("resources/manual")

_log = logging.getLogger(__name__)


class _WrongBytesError(RefusedError):
    """What the address gave is complete, but not the file."""


def fetch(
    file: RemoteFile,
    destination: str | Path,
    *,
    mirror: str | None = None,
    manual: str | Path = MANUAL,
    attempts: int = 5,
    timeout: float = 60.0,
    backoff: float = 1.0,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Make sure that `destination` holds the verified file, and return its sha256.

    The file is taken from `manual`/DATASET/NAME or `manual`/NAME if one is there, and else from the first
    address that gives it; with `mirror`, a folder or an http(s) address, `https://HOST/PATH` is read from
    `mirror`/HOST/PATH. An address that fails for a reason that may pass is asked again, up to `attempts`
    times in a row without `LEAST_BYTES` new bytes, after `backoff` × 1, 2, 4 … seconds; `timeout` is the
    longest silence in seconds, and fewer bytes within it are as good as none. Several processes may fetch the
    same file at once.

    An `InputError` lists every address with its cause on one line.
    """
    destination, manual = Path(destination), Path(manual)
    by_hand = _by_hand(file, manual)
    if by_hand is None:
        sources = [source_of(address, mirror) for address in file.addresses]
    else:
        sources = [(str(by_hand), by_hand)]

    def obtain(location: str | Path, part: Part, expected: str | None) -> str:
        """Fill `part`, and return the sha256 of what is now in it."""
        if isinstance(location, Path):
            _copy(location, part)
            try:
                return _check(part, file, expected, destination)
            except TransientError as error:
                raise RefusedError(str(error)) from None  # a copy comes out the same
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
                cause = "the part that was here does not belong to the file"
            failures = failures + 1 if part.size < furthest + LEAST_BYTES else 1
            furthest = max(furthest, part.size)
            if failures >= attempts:
                raise RefusedError(f"{cause} ({failures} attempts)")
            _log.info("%s: %s: trying again", location, cause)
            sleep(backoff * 2 ** (failures - 1))

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
    by_hand = manual / file.dataset / file.name if file.name_is_shared else manual / file.name
    advice = "" if file.shipped else f"; or put the file by hand into {by_hand}"
    raise InputError(f"{destination}: could not be fetched: {'; '.join(causes)}{advice}")


def source_of(address: str, mirror: str | None) -> tuple[str, str | Path]:
    """How messages call an address, and where it is read from: in `mirror`, where there is one."""
    if fault := address_fault(address):
        raise InputError(f"{address}: {fault}")
    parts = urlsplit(address)
    if parts.scheme == "file":
        return address, Path(unquote(parts.path))
    if mirror is None:
        return address, address
    query = f"?{parts.query}" if parts.query else ""
    if mirror.lower().startswith(("http://", "https://")):
        location: str | Path = f"{mirror.rstrip('/')}/{parts.netloc}{parts.path}{query}"
        if fault := address_fault(str(location)):
            raise InputError(f"mirror: {mirror!r}: {fault}")
    elif Path(mirror).is_dir():
        location = Path(mirror, parts.netloc, unquote(parts.path).lstrip("/") + query)
    else:
        raise InputError(f"mirror: {mirror!r} is neither a folder nor an http(s) address")
    return f"{address} (read from {location})", location


def _by_hand(file: RemoteFile, manual: Path) -> Path | None:
    """The file that the user put into `manual`, if there is one for this data set."""
    own, common = manual / file.dataset / file.name, manual / file.name
    if own.is_file():
        return own
    if file.shipped or not common.is_file():
        return None
    if file.name_is_shared:
        raise InputError(
            f"{common}: several data sets have a file of this name: move it to {own} if it is meant"
        )
    return common


def _verified(file: RemoteFile, destination: Path, by_hand: Path | None) -> str | None:
    """The sha256 of `destination` if it is known to be the right file."""
    if not (destination.is_file() and lock_path(destination).exists()):
        return None
    expected = expected_digest(file, destination)
    held = (destination,) if by_hand is None else (destination, by_hand)
    return expected if expected is not None and all(sha256(path) == expected for path in held) else None


def _copy(source: Path, part: Part) -> None:
    part.clear()
    if not source.is_file():
        raise RefusedError("not a file" if source.exists() else "no such file")
    try:
        stream = source.open("rb")
    except OSError as error:
        raise RefusedError(str(error.strerror)) from None
    with stream:
        part.append(lambda: stream.read(CHUNK))


def _check(part: Part, file: RemoteFile, expected: str | None, destination: Path) -> str:
    """The sha256 of a complete partial file; one that is not as expected is emptied.

    Where no digest is known, a file that is evidently damaged is a `TransientError`, lest its lock insist on
    a bad download for ever.
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
def _exclusive(path: Path) -> Iterator[Part]:
    """Open the partial file for appending, when no other process has it; an empty one is not left behind."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while not _is_open_as(stream := _open_locked(path), path):
            stream.close()  # another process has finished and renamed what we waited for
    except OSError as error:
        raise InputError(f"{path}: cannot be opened for writing: {error.strerror}") from None
    with stream:
        part = Part(stream)
        try:
            yield part
        finally:
            if _is_open_as(stream, path) and part.size == 0:
                path.unlink()


def _open_locked(path: Path) -> FileIO:
    stream = path.open("a+b", buffering=0)
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _log.info("%s: another process is fetching it: waiting", path)
        fcntl.flock(stream, fcntl.LOCK_EX)
    return stream


def _is_open_as(stream: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False
