"""Fetch the files of the registry; what has been downloaded is trusted from then on.

`NAME.part` belongs to a download in progress, and `NAME.part.origin` says what it is a part of.
"""

import fcntl
import logging
import os
import shutil
import time
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry
from urllib3.exceptions import HTTPError

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import sha256
from paraphrastic_pipeline.registry.addresses import address_error
from paraphrastic_pipeline.registry.datasets import RemoteFile

MANUAL = Path("resources/manual")
# Data sets that have the same content from other addresses.
_OTHERWISE = {"tatoeba_pairs": "tatoeba_opus", "sts": "sts_open", "bucc2018": "bucc2018_open"}

# Some servers refuse names in another form. A step may run where the package is not installed.
_VERSION = next((found.version for found in distributions(name="paraphrastic")), "")
_AGENT = f"Mozilla/5.0 (compatible; paraphrastic/{_VERSION})"
_WORTH_RETRYING = (408, 425, 429, 500, 502, 503, 504)
# Seconds to wait at most if a busy server asks for it.
_LONGEST_WAIT = 300
_CHUNK_BYTES = 1 << 20
# An attempt that brings fewer bytes counts as one that brings none.
_LEAST_BYTES = 1000

_log = logging.getLogger(__name__)


class _AddressError(Exception):
    """An address does not deliver the file."""


def fetch(
    file: RemoteFile,
    destination: str | Path,
    *,
    mirror: str | None = None,
    attempts: int = 5,
    timeout: float = 60.0,
    backoff: float = 1.0,
) -> None:
    """Fetch a file to `destination`.

    The file comes from `MANUAL`/DATASET/NAME or `MANUAL`/NAME if it is there, and otherwise from the first
    address that delivers it. With `mirror`, a folder or an http(s) address, `https://HOST/PATH` is read from
    `mirror`/HOST/PATH. If a failure may be temporary, the address is tried up to `attempts` times in a row,
    after pauses of `backoff` seconds and more, and goes on where it stopped. `timeout` is the longest silence
    in seconds.

    Raises:
        InputError: no address delivers the file; the message lists the causes on one line.
    """
    destination = Path(destination)
    sources: list[tuple[str, str | Path]]
    by_hand = next((path for path in _manual(file) if path.is_file()), None)
    sources = [(str(by_hand), by_hand)] if by_hand else [source_of(one, mirror) for one in file.addresses]
    causes = []
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        part = destination.with_name(f"{destination.name}.part")
        with part.open("ab") as stream:
            with suppress(OSError):  # some file systems have no locks
                fcntl.flock(stream, fcntl.LOCK_EX)
            if not (part.exists() and os.path.samestat(part.stat(), os.fstat(stream.fileno()))):
                return  # another process has finished the file
            for label, location in sources:
                try:
                    if isinstance(location, Path):
                        _copy(location, stream)
                    else:
                        _receive(location, stream, attempts=attempts, timeout=timeout, backoff=backoff)
                    _check(part, file)
                except _AddressError as error:
                    causes.append(f"{label}: {error}")
                    _log.info("%s: %s", destination, causes[-1])
                    continue
                part.replace(destination)
                Path(f"{part}.origin").unlink(missing_ok=True)
                return
    except OSError as error:
        raise InputError(f"{error.filename or part}: cannot be written: {error.strerror}") from None
    if not (file.shipped or by_hand):
        other = _OTHERWISE.get(file.dataset)
        instead = f"use the data set {other}, or " if other else ""
        causes.append(f"or {instead}put the file by hand into {_manual(file)[-1]}")
    raise InputError(f"{destination}: could not be fetched: {'; '.join(causes)}")


def source_of(address: str, mirror: str | None) -> tuple[str, str | Path]:
    """An address's name in messages, and the place it is read from, which is in `mirror` if that is set."""
    if error := address_error(address):
        raise InputError(error)
    parts = urlsplit(address)
    if parts.scheme == "file":
        return address, Path(unquote(parts.path))
    if mirror is None:
        return address, address
    query = f"?{parts.query}" if parts.query else ""
    location: str | Path
    if mirror.lower().startswith(("http://", "https://")):
        location = f"{mirror.rstrip('/')}/{parts.netloc}{parts.path}{query}"
        if error := address_error(location):
            raise InputError(f"mirror: {error}")
    elif Path(mirror).is_dir():
        location = Path(mirror, parts.netloc, unquote(parts.path).lstrip("/") + query)
    else:
        raise InputError(f"mirror: {mirror!r} is neither a folder nor an http(s) address")
    return f"{address} (read from {location})", location


def _manual(file: RemoteFile) -> list[Path]:
    """Where the user can put the file by hand; several data sets may have a file with its name."""
    of_dataset, common = MANUAL / file.dataset / file.name, MANUAL / file.name
    return [of_dataset] if file.name_is_shared or file.shipped else [of_dataset, common]


def _copy(path: Path, stream: IO[bytes]) -> None:
    stream.truncate(0)
    if not path.is_file():
        raise _AddressError("not a file" if path.exists() else "no such file")
    try:
        source = path.open("rb")
    except OSError as error:
        raise _AddressError(error.strerror) from None
    with source:
        shutil.copyfileobj(source, stream)
    stream.flush()


def _check(part: Path, file: RemoteFile) -> None:
    """Raise an error if a finished part is not the file of the registry; the part then begins anew."""
    size, digest = part.stat().st_size, file.sha256 and sha256(part)
    if (size, digest) == (file.size or size, file.sha256) and size:
        return
    os.truncate(part, 0)
    if digest != file.sha256:
        raise _AddressError(f"its sha256 is {digest}, the registry says {file.sha256}")
    raise _AddressError(f"has {size} bytes, the registry says {file.size}" if size else "the file is empty")


def _receive(address: str, stream: IO[bytes], *, attempts: int, timeout: float, backoff: float) -> None:
    """Append the rest of an http(s) address to a stream, or all of it if the part may be of another file."""
    # These retries are for the heads of answers; those for the content follow below.
    retry = Retry(
        attempts - 1,
        status_forcelist=_WORTH_RETRYING,
        backoff_factor=backoff,
        raise_on_status=False,
        retry_after_max=_LONGEST_WAIT,
    )
    failures = 0
    with requests.Session() as session:
        session.headers.update({"User-Agent": _AGENT, "Accept-Encoding": "identity"})
        session.adapters = {scheme: HTTPAdapter(max_retries=retry) for scheme in ("http://", "https://")}
        while True:
            held = _size(stream)
            try:
                return _continue(session, address, stream, timeout)
            except requests.RequestException as error:
                raise _AddressError(_cause(error)) from None
            except HTTPError as error:
                failures = failures + 1 if _size(stream) < held + _LEAST_BYTES else 1
                if failures >= attempts:
                    raise _AddressError(f"{_cause(error)} ({failures} attempts)") from None
            time.sleep(backoff * 2 ** (failures - 1))


def _continue(session: requests.Session, address: str, stream: IO[bytes], timeout: float) -> None:
    """Make one attempt to complete a stream; an `HTTPError` of urllib3 may pass."""
    origin = Path(f"{stream.name}.origin")
    known, _, validator = (origin.read_text() if origin.exists() else "").partition("\n")
    headers = {}
    if (held := _size(stream)) and known == address and validator:
        headers = {"Range": f"bytes={held}-", "If-Range": validator}
    with session.get(address, headers=headers, timeout=timeout, stream=True) as response:
        if not response.ok and response.status_code != 416:
            raise _AddressError(on_one_line(f"HTTP {response.status_code} {response.reason}"))
        if "text/html" in response.headers.get("Content-Type", "") and not address.endswith("html"):
            raise _AddressError("answered with a web page instead of the file")
        # A weak tag promises no bytes.
        tag = response.headers.get("ETag", "W/")
        found = response.headers.get("Last-Modified", "") if tag.startswith("W/") else tag
        if response.status_code == 200:
            stream.truncate(0)
            origin.write_text(f"{address}\n{found}")
        elif (
            found not in ("", validator)
            or not response.headers.get("Content-Range", "").startswith(f"bytes {held}-")
        ):  # fmt: skip
            stream.truncate(0)
            raise HTTPError("the part that is already here comes from another file")
        while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=False):
            stream.write(chunk)
            stream.flush()  # so that a stall or a kill loses nothing


def _size(stream: IO[bytes]) -> int:
    return os.fstat(stream.fileno()).st_size


def _cause(error: BaseException) -> str:
    """What is at the bottom of an error, which requests and urllib3 wrap in their own."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return on_one_line(error) or type(error).__name__
