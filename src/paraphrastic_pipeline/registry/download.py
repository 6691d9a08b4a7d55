"""Fetch the files of the registry: each is complete, verified, and fetched once.

The file `NAME` has a lock beside it, see `registry.lock`. If the registry gives no sha256, the first download
must not be empty or a damaged archive, and later downloads must equal the first one. `NAME.part` and
`NAME.part.json` belong to a download in progress, and `NAME.part.lock` to the process that is at it.
"""

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from filelock import FileLock, Timeout

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic_pipeline.base.addresses import address_error, hide_secrets
from paraphrastic_pipeline.base.compressed import DamagedError
from paraphrastic_pipeline.registry.archive import check_whole
from paraphrastic_pipeline.registry.datasets import RemoteFile
from paraphrastic_pipeline.registry.http import (
    LEAST_BYTES,
    AddressError,
    TransientError,
    discard,
    held_bytes,
    receive,
)
from paraphrastic_pipeline.registry.lock import expected_digest, lock_path, write_lock

MANUAL = Path("resources/manual")

_log = logging.getLogger(__name__)


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
    `mirror`/HOST/PATH. If a failure may be temporary, the address is tried again after 1, 2, 4 … seconds or
    those that the server asks for, up to `attempts` times in a row; `LEAST_BYTES` new bytes start the count
    again. `timeout` is the longest silence in seconds, and fewer than `LEAST_BYTES` within it count as
    silence. Several processes may fetch the same file at once.

    If no address delivers the file, an `InputError` lists them with their causes on one line.
    """
    delivery = _Delivery(file, Path(destination), attempts, timeout, sleep)
    destination, part = delivery.destination, delivery.part
    if by_hand := _by_hand(file):
        sources: list[tuple[str, str | Path]] = [(str(by_hand), by_hand)]
    else:
        sources = [source_of(address, mirror) for address in file.addresses]
    if digest := _verified(file, destination, by_hand):
        return digest
    try:
        with _exclusive(part):
            if digest := _verified(file, destination, by_hand):
                return digest  # another process was faster
            if destination.exists():
                _log.warning("%s: damaged or not the version of the registry: fetching it again", destination)
            expected = expected_digest(file, destination)
            causes = []
            for label, location in sources:
                try:
                    digest = delivery.from_place(location, expected)
                except AddressError as error:
                    causes.append(f"{label}: {error}")
                    _log.info("%s: %s", destination, causes[-1])
                    continue
                part.replace(destination)
                discard(part)
                write_lock(destination, digest=digest, address=label, version=file.version)
                return digest
    except OSError as error:
        place = error.filename2 or error.filename or part
        raise InputError(f"{place}: cannot be written: {error.strerror}") from None
    if by_hand:
        raise InputError(causes[0])
    by_hand = MANUAL / file.dataset / file.name if file.name_is_shared else MANUAL / file.name
    advice = "" if file.shipped else f"; or put the file by hand into {by_hand}"
    raise InputError(f"{destination}: could not be fetched: {'; '.join(causes)}{advice}")


@dataclass(frozen=True, slots=True)
class _Delivery:
    """A file on its way to its destination, and how patiently it is waited for; see `fetch`."""

    file: RemoteFile
    destination: Path
    attempts: int
    timeout: float
    sleep: Callable[[float], None]

    @property
    def part(self) -> Path:
        """The file that holds what has arrived."""
        return self.destination.with_name(f"{self.destination.name}.part")

    def from_place(self, location: str | Path, expected: str | None) -> str:
        """Fill the part from a path or an address, and return the sha256 of its content."""
        if isinstance(location, Path):
            return self._copied(location, expected)
        failures = furthest = 0
        while True:
            resumed = held_bytes(self.part) > 0
            try:
                receive(location, self.part, size=self.file.size, timeout=self.timeout)
                return _digest(self.part, self.file, expected, self.destination, resumed=resumed)
            except TransientError as error:
                failure = error
            held = held_bytes(self.part)
            failures = failures + 1 if held < furthest + LEAST_BYTES else 1
            furthest = max(furthest, held)
            if failures >= self.attempts:
                raise AddressError(f"{failure} ({failures} attempts)")
            _log.info("%s: %s: trying again", location, failure)
            self.sleep(failure.wait or 2 ** (failures - 1))

    def _copied(self, path: Path, expected: str | None) -> str:
        discard(self.part)
        if not path.is_file():
            raise AddressError("not a file" if path.exists() else "no such file")
        try:
            source = path.open("rb")
        except OSError as error:
            raise AddressError(error.strerror) from None
        with source, self.part.open("wb") as copy:
            shutil.copyfileobj(source, copy)
        return _digest(self.part, self.file, expected, self.destination)


def source_of(address: str, mirror: str | None) -> tuple[str, str | Path]:
    """An address's name in messages, and the place it is read from, which is in `mirror` if that is set."""
    if error := address_error(address):
        raise InputError(f"{hide_secrets(address)}: {error}")
    parts = urlsplit(address)
    if parts.scheme == "file":
        return address, Path(unquote(parts.path))
    if mirror is None:
        return address, address
    query = f"?{parts.query}" if parts.query else ""
    if mirror.lower().startswith(("http://", "https://")):
        location: str | Path = f"{mirror.rstrip('/')}/{parts.netloc}{parts.path}{query}"
        if error := address_error(str(location)):
            raise InputError(f"mirror: {hide_secrets(mirror)!r}: {error}")
    elif Path(mirror).is_dir():
        location = Path(mirror, parts.netloc, unquote(parts.path).lstrip("/") + query)
    else:
        raise InputError(f"mirror: {hide_secrets(mirror)!r} is neither a folder nor an http(s) address")
    return f"{address} (read from {location})", location


def _by_hand(file: RemoteFile) -> Path | None:
    """The file that the user put into `MANUAL`, if there is one for this data set."""
    of_dataset, common = MANUAL / file.dataset / file.name, MANUAL / file.name
    if of_dataset.is_file():
        return of_dataset
    if file.shipped or not common.is_file():
        return None
    if file.name_is_shared:
        raise InputError(
            f"{common}: several data sets have a file with this name: move it to {of_dataset} if it "
            "belongs there"
        )
    return common


def _verified(file: RemoteFile, destination: Path, by_hand: Path | None) -> str | None:
    """The sha256 of `destination` if it is known to be the right file."""
    if not (destination.is_file() and lock_path(destination).exists()):
        return None
    expected = expected_digest(file, destination)
    held = (destination,) if by_hand is None else (destination, by_hand)
    return expected if expected is not None and all(sha256(path) == expected for path in held) else None


def _digest(
    part: Path, file: RemoteFile, expected: str | None, destination: Path, *, resumed: bool = False
) -> str:
    """The sha256 of a finished partial file; if it is not the file that is wanted, the part is removed.

    If no digest is known yet, an empty or damaged file is a `TransientError`: otherwise its lock would insist
    on a bad download forever. So is a resumed one, whose beginning may not belong to the file.
    """
    try:
        size = held_bytes(part)
        if file.size not in (None, size):
            raise InputError(f"has {size} bytes, the registry says {file.size}")
        with part.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            os.fsync(stream.fileno())
        if expected not in (None, digest):
            lock = lock_path(destination)
            first = f"the first download had {expected}: delete {lock} to accept the new file"
            wanted = f"the registry says {expected}" if file.sha256 else first
            raise InputError(f"its sha256 is {digest}, {wanted}")
        if expected is None and size == 0:
            raise DamagedError("the file is empty")
        if expected is None:
            check_whole(part, file.name)
    except InputError as error:
        discard(part)
        kind = TransientError if resumed or isinstance(error, DamagedError) else AddressError
        raise kind(str(error).removeprefix(f"{part}: ")) from None
    return digest


@contextmanager
def _exclusive(part: Path) -> Iterator[None]:
    """Wait until no other process is at a partial file."""
    part.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{part}.lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        _log.info("%s: another process is fetching it: waiting", part)
        lock.acquire()
    try:
        yield
    finally:
        Path(lock.lock_file).unlink(missing_ok=True)  # those who wait for it make a new one
        lock.release()
