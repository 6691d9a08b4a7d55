"""Fetch the files of the registry: each is whole, verified, and fetched once.

Beside `NAME` lies `NAME.lock`, which records its sha256 at the first download; where the registry gives no
sha256, the first download must be no empty file and no damaged archive, and later ones must agree with it.
`NAME.part` and `NAME.part.json` are a download in progress.
"""

import fcntl
import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, sha256, write_json
from paraphrastic.registry.archive import DamagedError, check_whole
from paraphrastic.registry.datasets import RemoteFile, address_fault
from paraphrastic.registry.http import LEAST_BYTES, RefusedError, TransientError, copy_file, receive

MANUAL = Path("resources/manual")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Source:
    """Where to read a file from; `label` is how messages call it."""

    label: str
    location: str | Path


@dataclass(frozen=True, slots=True)
class _Expected:
    """The sha256 that a file must have, None where any will do, and what to say of another one."""

    sha256: str | None
    otherwise: str = ""


class _WrongBytesError(RefusedError):
    """What the address gave is complete, but not the file."""


@dataclass(frozen=True, slots=True)
class _Patience:
    """How long to insist on one address."""

    attempts: int
    timeout: float
    backoff: float
    sleep: Callable[[float], None]


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
    destination = Path(destination)
    by_hand = _by_hand(file, Path(manual))
    if by_hand is None:
        sources = [source_of(address, mirror) for address in file.addresses]
    else:
        sources = [Source(str(by_hand), by_hand)]
    if digest := _verified(file, destination, by_hand):
        return digest
    part = destination.with_name(destination.name + ".part")
    with _exclusive(part) as stream:
        if digest := _verified(file, destination, by_hand):
            return digest  # another process was faster
        if by_hand is None and destination.exists():
            _log.warning("%s: damaged, or not the version of the registry: fetching it again", destination)
        expected = _expected(file, destination)
        patience = _Patience(attempts, timeout, backoff, sleep)
        causes = []
        for source in sources:
            try:
                digest = _obtain(source.location, stream, file, expected, patience)
            except RefusedError as error:
                causes.append(f"{source.label}: {error}")
                _log.info("%s: %s", destination, causes[-1])
                continue
            record = {"sha256": digest, "address": source.label, "version": file.version}
            _install(stream, destination, record)
            return digest
    if by_hand is not None:
        raise InputError(causes[0])
    by_hand = Path(manual, file.dataset, file.name) if file.name_is_shared else Path(manual, file.name)
    advice = "" if file.shipped else f"; or put the file by hand into {by_hand}"
    raise InputError(f"{destination}: could not be fetched: {'; '.join(causes)}{advice}")


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


def source_of(address: str, mirror: str | None) -> Source:
    """Where an address is read from: `mirror` instead of the network, where there is one."""
    if fault := address_fault(address):
        raise InputError(f"{address}: {fault}")
    parts = urlsplit(address)
    if parts.scheme == "file":
        return Source(address, Path(unquote(parts.path)))
    if mirror is None:
        return Source(address, address)
    query = f"?{parts.query}" if parts.query else ""
    if mirror.lower().startswith(("http://", "https://")):
        location: str | Path = f"{mirror.rstrip('/')}/{parts.netloc}{parts.path}{query}"
        if fault := address_fault(str(location)):
            raise InputError(f"mirror: {mirror!r}: {fault}")
    elif Path(mirror).is_dir():
        location = Path(mirror, parts.netloc, unquote(parts.path).lstrip("/") + query)
    else:
        raise InputError(f"mirror: {mirror!r} is neither a folder nor an http(s) address")
    return Source(f"{address} (read from {location})", location)


def _verified(file: RemoteFile, destination: Path, by_hand: Path | None) -> str | None:
    """The sha256 of `destination` if it is known to be the right file."""
    if not destination.is_file():
        return None
    wanted = _expected(file, destination).sha256
    held = (destination,) if by_hand is None else (destination, by_hand)
    try:
        return wanted if wanted is not None and all(sha256(path) == wanted for path in held) else None
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from None


def _expected(file: RemoteFile, destination: Path) -> _Expected:
    if file.sha256 is not None:
        return _Expected(file.sha256, f"the registry says {file.sha256}")
    lock = _lock(destination)
    if not lock.exists():
        return _Expected(None)
    record = read_json(lock)
    known = record.get("sha256") if isinstance(record, dict) else None
    if not isinstance(known, str):
        raise InputError(f"{lock}: has no sha256: delete it to accept the file as it is now")
    if record.get("version") != file.version:
        return _Expected(None)  # the registry has moved on to another version
    return _Expected(known, f"the first download had {known}: delete {lock} to accept the new file")


def _lock(destination: Path) -> Path:
    return destination.with_name(destination.name + ".lock")


def _obtain(
    location: str | Path, stream: FileIO, file: RemoteFile, expected: _Expected, patience: _Patience
) -> str:
    """Fill `stream`, the partial file, from `location`, and return the sha256 of what is now in it."""
    state = Path(f"{stream.name}.json")
    if isinstance(location, Path):
        state.unlink(missing_ok=True)
        copy_file(location, stream)
        try:
            return _check(stream, file, expected)
        except TransientError as error:
            raise RefusedError(str(error)) from None  # a copy comes out the same
    failures, furthest = 0, stream.seek(0, os.SEEK_END)
    while True:
        resumed = stream.seek(0, os.SEEK_END) > 0
        try:
            receive(location, stream, state, size=file.size, timeout=patience.timeout)
            digest = _check(stream, file, expected)
        except TransientError as error:
            cause = str(error)
            if stream.seek(0, os.SEEK_END) == 0:
                state.unlink(missing_ok=True)
        except _WrongBytesError:
            state.unlink(missing_ok=True)
            if not resumed:
                raise
            cause = "the part that was here does not belong to the file"
        else:
            state.unlink(missing_ok=True)
            return digest
        reached = stream.seek(0, os.SEEK_END)
        failures = failures + 1 if reached < furthest + LEAST_BYTES else 1
        furthest = max(furthest, reached)
        if failures >= patience.attempts:
            raise RefusedError(f"{cause} ({failures} attempts)")
        _log.info("%s: %s: trying again", location, cause)
        patience.sleep(patience.backoff * 2 ** (failures - 1))


def _check(stream: FileIO, file: RemoteFile, expected: _Expected) -> str:
    """The sha256 of a complete partial file; one that is not as expected is emptied.

    What nothing is known of, and can be told to be damaged, is a `TransientError`.
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    error: Exception | None = None
    if file.size is not None and size != file.size:
        error = _WrongBytesError(f"has {size} bytes, the registry says {file.size}")
    elif expected.sha256 not in (None, digest):
        error = _WrongBytesError(f"its sha256 is {digest}, {expected.otherwise}")
    elif expected.sha256 is None:
        error = _damage(stream, file)
    if error is None:
        return digest
    stream.truncate(0)
    raise error


def _damage(stream: FileIO, file: RemoteFile) -> TransientError | RefusedError | None:
    """What is wrong with a file that has no digest yet, lest its lock insist on a bad download for ever."""
    part = str(stream.name)
    if stream.seek(0, os.SEEK_END) == 0:
        return TransientError("the file is empty")
    try:
        check_whole(part, file.name)
    except InputError as error:
        kind = TransientError if isinstance(error, DamagedError) else RefusedError
        return kind(str(error).removeprefix(f"{part}: "))
    return None


def _install(stream: FileIO, destination: Path, record: dict[str, str]) -> None:
    """Give the partial file its final name, and write its record to the lock file."""
    size = stream.seek(0, os.SEEK_END)
    try:
        os.fsync(stream.fileno())
        Path(str(stream.name)).replace(destination)
        write_json(_lock(destination), {**record, "size": size})
    except OSError as error:
        raise InputError(f"{destination}: cannot be written: {error.strerror}") from None


@contextmanager
def _exclusive(part: Path) -> Iterator[FileIO]:
    """Open the partial file for appending, when no other process has it; an empty one is not left behind."""
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        stream = _open_locked(part)
        while not _is_open_as(stream, part):  # another process has finished and renamed what we waited for
            stream.close()
            stream = _open_locked(part)
    except OSError as error:
        raise InputError(f"{part}: cannot be opened for writing: {error.strerror}") from None
    with stream:
        try:
            yield stream
        finally:
            if _is_open_as(stream, part) and stream.seek(0, os.SEEK_END) == 0:
                part.unlink()


def _open_locked(part: Path) -> FileIO:
    stream = part.open("a+b", buffering=0)
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _log.info("%s: another process is fetching it: waiting", part)
        fcntl.flock(stream, fcntl.LOCK_EX)
    return stream


def _is_open_as(stream: FileIO, part: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), part.stat())
    except FileNotFoundError:
        return False
