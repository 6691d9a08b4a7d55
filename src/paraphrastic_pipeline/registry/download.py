"""Fetch the files of the registry; what has been downloaded is trusted from then on.

`NAME.part` belongs to a download in progress, and `NAME.part.origin` says what it is a part of.
"""

import logging
import os
import shutil
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any
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
# Bytes that are read at a time; after so many, the count of failed attempts begins anew.
_CHUNK_BYTES = 1 << 20


def fetch(
    file: Mapping[str, Any],
    destination: str | Path,
    *,
    mirror: str | None = None,
    attempts: int = 5,
    timeout: float = 60.0,
    backoff: float = 1.0,
) -> None:
    """Fetch a file, given by the fields of its `RemoteFile`, to `destination`.

    The file comes from `MANUAL`/DATASET/NAME if it is there, and otherwise from the first address that
    delivers it. With `mirror`, a folder or an http(s) address, `https://HOST/PATH` is read from
    `mirror`/HOST/PATH. If a failure may be temporary, the address is tried up to `attempts` times in a row,
    with pauses as in urllib3's `Retry`, and goes on where it stopped. `timeout` is the longest silence in
    seconds.

    Raises:
        InputError: no address delivers the file; the message lists the causes on one line.
    """
    remote = RemoteFile(**file)
    part = Path(f"{destination}.part")
    by_hand = MANUAL / remote.dataset / remote.name
    sources = [source_of(address, mirror) for address in remote.addresses]
    if by_hand.is_file():
        sources = [(str(by_hand), by_hand)]
    retry = Retry(
        attempts - 1,
        status_forcelist=(408, 425, 429, 500, 502, 503, 504),
        backoff_factor=backoff,
        raise_on_status=False,
        retry_after_max=300,  # seconds, if a busy server asks for a pause
    )
    causes = []
    for label, location in sources:
        try:
            part.parent.mkdir(parents=True, exist_ok=True)
            part.touch()
            if isinstance(location, Path):
                shutil.copyfile(location, part)
            else:
                _download(location, part, retry, timeout)
            _check(part, remote)
            part.replace(destination)
            Path(f"{part}.origin").unlink(missing_ok=True)
            return
        except (InputError, requests.RequestException, HTTPError) as error:
            causes.append(f"{label}: {on_one_line(getattr(error, 'reason', None) or error)}")
        except OSError as error:
            if error.filename != str(location):
                raise InputError(f"{error.filename or part}: cannot be written: {error.strerror}") from None
            causes.append(f"{label}: {error.strerror}")
        logging.info("%s: %s", destination, causes[-1])
    if not (remote.shipped or by_hand.is_file()):
        other = _OTHERWISE.get(remote.dataset)
        instead = f"use the data set {other}, or " if other else ""
        causes.append(f"or {instead}put the file by hand into {by_hand}")
    raise InputError(f"{destination}: could not be fetched: {'; '.join(causes)}")


def source_of(address: str, mirror: str | None) -> tuple[str, str | Path]:
    """An address's name in messages, and the place it is read from, which is in `mirror` if that is set."""
    parts = urlsplit(address)
    if parts.scheme == "file":
        return address, Path(unquote(parts.path))
    if mirror is None:
        return address, address
    path = parts.netloc + parts.path + (f"?{parts.query}" if parts.query else "")
    location: str | Path
    if mirror.lower().startswith(("http://", "https://")):
        location = f"{mirror.rstrip('/')}/{path}"
        if error := address_error(location):
            raise InputError(f"mirror: {error}")
    elif Path(mirror).is_dir():
        location = Path(mirror, unquote(path))
    else:
        raise InputError(f"mirror: {mirror!r} is neither a folder nor an http(s) address")
    return f"{address} (read from {location})", location


def _download(address: str, part: Path, retry: Retry, timeout: float) -> None:
    """Complete a part from an http(s) address, which the session asks until an answer has begun."""
    left = retry
    with requests.Session() as session:
        session.headers.update({"User-Agent": _AGENT, "Accept-Encoding": "identity"})
        session.adapters = {scheme: HTTPAdapter(max_retries=retry) for scheme in ("http://", "https://")}
        while True:
            held = part.stat().st_size
            try:
                return _continue(session, address, part, timeout)
            except HTTPError as error:
                is_slow = part.stat().st_size < held + _CHUNK_BYTES
                left = (left if is_slow else retry).increment("GET", address, error=error)
            left.sleep()


def _continue(session: requests.Session, address: str, part: Path, timeout: float) -> None:
    """Make one attempt to complete a part; an `HTTPError` of urllib3 may pass."""
    origin, held, headers = Path(f"{part}.origin"), part.stat().st_size, {}
    known, _, validator = (origin.read_text() if origin.exists() else "").partition("\n")
    if held and known == address and validator:
        headers = {"Range": f"bytes={held}-", "If-Range": validator}
    with session.get(address, headers=headers, timeout=timeout, stream=True) as response:
        found = response.headers.get("ETag") or response.headers.get("Last-Modified", "")
        begins = response.headers.get("Content-Range", "").startswith(f"bytes {held}-")
        is_rest = response.status_code == 206 and begins and found in ("", validator)
        if response.status_code in (206, 416) and not is_rest:
            os.truncate(part, 0)
            raise HTTPError("the part that is already here comes from another file")
        if not response.ok:
            raise InputError(f"HTTP {response.status_code} {response.reason}")
        if "text/html" in response.headers.get("Content-Type", "") and not address.endswith("html"):
            raise InputError("answered with a web page instead of the file")
        with part.open("ab" if is_rest else "wb", buffering=0) as stream:
            origin.write_text(f"{address}\n{found}")
            while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=False):
                stream.write(chunk)


def _check(part: Path, file: RemoteFile) -> None:
    """Raise an error if a finished part is not the file of the registry; the part then begins anew."""
    size, digest = part.stat().st_size, file.sha256 and sha256(part)
    if (size, digest) == (file.size or size, file.sha256) and size:
        return
    os.truncate(part, 0)
    if digest != file.sha256:
        raise InputError(f"its sha256 is {digest}, the registry says {file.sha256}")
    raise InputError(f"has {size} bytes, the registry says {file.size}" if size else "the file is empty")
