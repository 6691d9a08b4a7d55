"""One address into one partial file: over http(s), taken up again where it broke off, or from a file.

A partial file is only continued when the server confirms that it still serves the same bytes; what is
needed to ask (address, validator, length) is kept in a small JSON file beside it, the `state`.
"""

import json
import os
import re
import ssl
import time
from email.message import Message
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path
from typing import IO, Any, cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import write_json

# Fewer bytes than these, within the seconds that silence may last, are no progress.
LEAST_BYTES = 1000
_CHUNK = 1 << 20
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_WORTH_RETRYING = (408, 425, 429)


class _AddressError(Exception):
    """What is wrong with an address, on one line, also where a server has said it."""

    def __init__(self, cause: str) -> None:
        super().__init__(on_one_line(cause))


class TransientError(_AddressError):
    """The address may give the file when asked again."""


class RefusedError(_AddressError):
    """The address does not give the file, however often it is asked."""


class _WebRedirects(HTTPRedirectHandler):
    """Follows redirects to http(s) only, and from https to https only."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> Request | None:
        scheme = urlsplit(newurl).scheme
        if scheme == "http" and urlsplit(req.full_url).scheme == "https":
            raise RefusedError(f"HTTP {code} {msg} - Redirection from https to {newurl!r} is not allowed")
        if scheme not in ("http", "https"):
            raise RefusedError(f"HTTP {code} {msg} - Redirection to url {newurl!r} is not allowed")
        # The type stubs know only `HTTPMessage`, the class that urllib happens to use.
        return super().redirect_request(req, fp, code, msg, cast(Any, headers), newurl)


class _PacedReader(RawIOBase):
    """What a server sends, until it sends so slowly that a limit of its silence alone would never end it.

    The `head`, all that comes before the content, has the time that silence may last, from its first byte.
    """

    def __init__(self, raw: RawIOBase, timeout: float) -> None:
        self._raw = raw
        self._timeout = timeout
        self._begun = 0.0
        self._count = 0
        self.head = True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        received = cast(int, self._raw.readinto(buffer))
        now = time.monotonic()
        if self._count == 0:
            self._begun = now
        self._count += received
        if received and now - self._begun >= self._timeout:
            if self.head or self._count < LEAST_BYTES:
                raise OSError(f"too slow: {self._count} bytes in {self._timeout:g} seconds")
            self._count = 0
        return received

    def close(self) -> None:
        self._raw.close()
        super().close()


class _PacedResponse(HTTPResponse):
    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self._reader = _PacedReader(self.fp.detach(), sock.gettimeout())
        self.fp = BufferedReader(self._reader)

    def begin(self) -> None:
        super().begin()
        self._reader.head = False


class _Connection(HTTPConnection):
    response_class = _PacedResponse


class _SecureConnection(HTTPSConnection):
    response_class = _PacedResponse


class _PacedHTTP(HTTPHandler):
    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_Connection, req)


class _PacedHTTPS(HTTPSHandler):
    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_SecureConnection, req)


def receive(address: str, part: FileIO, state: Path, *, size: int | None, timeout: float) -> None:
    """Bring `part` to the whole content of the http(s) `address`, from where it stands.

    `part` is open for appending without a buffer. `size` is the expected length in bytes, `timeout` the
    longest silence in seconds, and fewer than `LEAST_BYTES` within it are as good as none. Raises
    `TransientError` or `RefusedError`, and `InputError` where the disk takes no more.
    """
    known = _read_state(state, address)
    have = part.seek(0, os.SEEK_END)
    if have and known is None:
        have = part.truncate(0)
    if known is not None and have == known["total"]:
        return
    headers = {"Accept-Encoding": "identity", "User-Agent": "paraphrastic"}
    if have and known is not None:
        headers |= {"Range": f"bytes={have}-", "If-Range": known["validator"]}
    try:
        request = Request(address, headers=headers)  # noqa: S310 - the caller has checked the scheme
        with build_opener(_WebRedirects, _PacedHTTP, _PacedHTTPS).open(request, timeout=timeout) as response:
            total = _begin(response, address, part, state, size=size, have=have, known=known)
            while chunk := response.read1(_CHUNK):  # what has come so far, so that a stall loses nothing
                _append(part, chunk)
    except HTTPError as error:
        error.close()
        if error.code == 416:  # what is here is longer than what the server has
            part.truncate(0)
            raise TransientError("the server's file is shorter than the part that was here") from None
        if error.code in _WORTH_RETRYING or error.code >= 500:
            raise TransientError(f"HTTP {error.code} {error.reason}") from None
        if str(error.reason).startswith(HTTPRedirectHandler.inf_msg):
            raise RefusedError(f"HTTP {error.code}: redirects without end") from None
        raise RefusedError(f"HTTP {error.code} {error.reason}") from None
    except (OSError, HTTPException) as error:
        cause = error.reason if isinstance(error, URLError) else error
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise RefusedError(f"its certificate is not valid: {cause.verify_message}") from None
        if isinstance(cause, TimeoutError):
            raise TransientError(f"silent for {timeout:g} seconds") from None
        raise TransientError(str(cause).strip() or type(cause).__name__) from None
    except ValueError as error:
        raise RefusedError(f"not a usable address: {error}") from None
    received = part.tell()
    if total is not None and received < total:
        raise TransientError(f"the connection closed after {received} of {total} bytes")


def copy_file(source: Path, part: FileIO) -> None:
    """Make `part` a copy of the regular file `source`."""
    part.truncate(0)
    if not source.is_file():
        raise RefusedError("not a file" if source.exists() else "no such file")
    try:
        stream = source.open("rb")
    except OSError as error:
        raise RefusedError(str(error.strerror)) from None
    with stream:
        while chunk := stream.read(_CHUNK):
            _append(part, chunk)


def _begin(
    response: HTTPResponse,
    address: str,
    part: FileIO,
    state: Path,
    *,
    size: int | None,
    have: int,
    known: dict[str, Any] | None,
) -> int | None:
    """Decide by the answer's header whether it continues `part` or starts anew; the total length if known."""
    if response.headers.get_content_type() == "text/html" and not address.endswith((".html", ".htm")):
        raise RefusedError("answered with a web page instead of the file")
    etag = response.headers.get("ETag", "")
    validator = etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")
    if response.status == 206:
        span = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
        found = (int(span[1]), int(span[2]), validator) if span else None
        if known is None or found != (have, known["total"], known["validator"]):
            part.truncate(0)
            raise TransientError("the server's file is not the one that the part here came from")
        return int(known["total"])
    part.truncate(0)
    state.unlink(missing_ok=True)
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isdigit() else None
    if None not in (size, total) and size != total:
        raise RefusedError(f"has {total} bytes, the registry says {size}")
    if validator and total is not None:
        try:
            write_json(state, {"address": address, "validator": validator, "total": total})
        except OSError as error:
            raise InputError(f"{state}: cannot be written: {error.strerror}") from None
    return total


def _read_state(state: Path, address: str) -> dict[str, Any] | None:
    """What is known of the part's origin, if it came from `address`."""
    try:
        known = json.loads(state.read_text(encoding="utf-8"))
        of_this_address = known["address"] == address
        kinds = (type(known["validator"]), type(known["total"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None  # absent or damaged: the part is fetched from its beginning
    return known if of_this_address and kinds == (str, int) else None


def _append(part: FileIO, chunk: bytes) -> None:
    rest = memoryview(chunk)
    try:
        while rest:
            rest = rest[part.write(rest) :]
    except OSError as error:
        raise InputError(f"{part.name}: cannot be written: {error.strerror}") from None
