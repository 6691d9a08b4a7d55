"""Download an http(s) address into a partial file, and resume where an earlier attempt stopped.

A partial file is only continued if the server confirms that it still serves the same bytes. The address,
validator and length that this needs are kept in a small JSON file beside it.
"""

import netrc
import os
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse, IncompleteRead
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import parse_json, write_json
from paraphrastic.base.numbers import is_count

# A server that sends fewer bytes than this within the timeout counts as silent.
LEAST_BYTES = 1000
CHUNK_BYTES = 1 << 20
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_WORTH_RETRYING = (408, 425, 429)


class _AddressError(Exception):
    """A problem with an address, on one line, even if it quotes a server."""

    def __init__(self, cause: str) -> None:
        super().__init__(on_one_line(cause))


class TransientError(_AddressError):
    """The address may deliver the file on another attempt."""


class _BrokenOffError(TransientError):
    """The connection ended before the content did."""


class RefusedError(_AddressError):
    """The address will not deliver the file, however often it is asked."""


class ChangedError(RefusedError):
    """The address has another file than the one in the registry."""


class _PacedReader(RawIOBase):
    """Reads from a server until it becomes too slow, which is an `OSError`.

    A socket's timeout only catches silence. This reader also gives up if fewer than `LEAST_BYTES` arrive
    within the timeout, or if the `head` (everything before the content) takes longer than the timeout.
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


class _PacedAdapter(HTTPAdapter):
    """Connections that are dropped if they are too slow, and that trust the system's certificates."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs, ssl_context=ssl.create_default_context())

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> Any:
        pool = super().get_connection_with_tls_context(*args, **kwargs)
        pool.ConnectionCls = type("_Connection", (pool.ConnectionCls,), {"response_class": _PacedResponse})
        return pool


class _Session(requests.Session):
    """Follows redirects to http(s) only, and from https to https only, with no password for other hosts."""

    def __init__(self) -> None:
        super().__init__()
        # Each request is given what it needs of the environment: proxies, and the password of one host.
        self.trust_env = False
        self.mount("http://", _PacedAdapter())
        self.mount("https://", _PacedAdapter())

    def rebuild_proxies(self, prepared_request: requests.PreparedRequest, proxies: Any) -> dict[str, str]:
        return get_environ_proxies(cast(str, prepared_request.url))

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target is not None:
            scheme = urlsplit(urljoin(resp.url, target)).scheme
            answer = f"HTTP {resp.status_code} {resp.reason} - Redirection"
            if scheme == "http" and urlsplit(resp.url).scheme == "https":
                raise RefusedError(f"{answer} from https to {target!r} is not allowed")
            if scheme not in ("http", "https"):
                raise RefusedError(f"{answer} to url {target!r} is not allowed")
        return target


class PartialFile:
    """A partial file, opened without a buffer, and the note beside it on the origin of its bytes."""

    def __init__(self, stream: FileIO) -> None:
        self.stream = stream
        self.path = Path(str(stream.name))
        self.note = Path(f"{stream.name}.json")

    @property
    def size(self) -> int:
        """Number of bytes in the file."""
        return self.stream.seek(0, os.SEEK_END)

    def append(self, source: Callable[[], bytes]) -> None:
        """Write the chunks that `source` returns, until it returns an empty one."""
        while chunk := source():
            rest = memoryview(chunk)
            try:
                while rest:
                    rest = rest[self.stream.write(rest) :]
            except OSError as error:
                raise InputError(f"{self.path}: cannot be written: {error.strerror}") from None

    def clear(self) -> None:
        """Empty the file, and remove its note."""
        self.stream.truncate(0)
        self.note.unlink(missing_ok=True)

    def origin(self, address: str) -> tuple[str, int] | None:
        """Validator and length of the whole file, if the bytes came from `address`."""
        try:
            known = parse_json(self.note.read_text(encoding="utf-8"))
            return (str(known["validator"]), int(known["total"])) if known["address"] == address else None
        except (OSError, ValueError, LookupError, TypeError):
            return None  # absent or damaged: the file is fetched from its beginning


def receive(address: str, part: PartialFile, *, size: int | None, timeout: float) -> None:
    """Complete `part` with the content of the http(s) `address`, after the bytes that it already has.

    `size` is the expected length in bytes, and `timeout` the longest silence in seconds. Raises a
    `TransientError` or `RefusedError`, or an `InputError` if the part cannot be written.
    """
    origin = part.origin(address)
    if origin is None:
        part.clear()
    elif part.size == origin[1]:
        return
    headers = {"Range": f"bytes={part.size}-", "If-Range": origin[0]} if origin and part.size else {}
    total = None
    try:
        with _failures_named(timeout), _opened("GET", address, headers, timeout) as response:
            total = _begin(response, address, part, origin, size)
            # Write whatever has arrived, so that a stall loses nothing.
            part.append(lambda: response.raw.read1(CHUNK_BYTES, decode_content=False))
    except _BrokenOffError:
        if total is None:
            raise
    if total is not None and part.size < total:
        raise TransientError(f"the connection closed after {part.size} of {total} bytes")


def check_address(address: str, *, size: int | None, timeout: float) -> None:
    """Ask the http(s) `address` for the head of a file; the arguments and errors are those of `receive`."""
    for method in ("HEAD", "GET"):
        with _failures_named(timeout), _opened(method, address, {}, timeout) as response:
            # Some servers only answer questions for the whole file; its content is then not read.
            if method == "GET" or response.status_code not in (403, 404, 405, 501):
                _check_head(response, address)
                _length(response, size)
                return


@contextmanager
def _opened(
    method: str, address: str, headers: dict[str, str], timeout: float
) -> Iterator[requests.Response]:
    headers = {"Accept-Encoding": "identity", "User-Agent": "paraphrastic", **headers}
    with (
        _Session() as session,
        session.request(
            method,
            address,
            headers=headers,
            auth=_password_of(address)[0],
            proxies=get_environ_proxies(address),
            timeout=timeout,
            stream=True,
            allow_redirects=True,
        ) as response,
    ):
        yield response


def _password_of(address: str) -> tuple[tuple[str, str] | None, str]:
    """User and password of an address's host in `.netrc`, and what to say if the server wants others.

    The entry for all other hosts is not used, because any server could then ask for its password.
    """
    path, host = os.environ.get("NETRC") or None, urlsplit(address).hostname or ""
    name = path or "~/.netrc"
    try:
        entry = netrc.netrc(path).hosts.get(host)
    except FileNotFoundError:
        entry = None
    except netrc.NetrcParseError as error:
        # If it names a line, the message may quote a password.
        return None, f"{name}: line {error.lineno} is damaged" if error.lineno else error.msg
    except (OSError, ValueError):
        return None, f"{name} cannot be read"
    if entry is None:
        return None, f"{name} has no user and password for {host}"
    return (entry[0], entry[2]), f"with user and password from {name}"


@contextmanager
def _failures_named(timeout: float) -> Iterator[None]:
    """Turn what can happen to a connection into a `TransientError` or a `RefusedError`."""
    try:
        yield
    except requests.TooManyRedirects as error:
        status = error.response.status_code if error.response is not None else "3xx"
        raise RefusedError(f"HTTP {status}: redirects without end") from None
    except ValueError as error:
        raise RefusedError(f"not a usable address: {error}") from None
    except (OSError, HTTPException, HTTPError) as error:
        cause: BaseException = error
        # requests and urllib3 wrap the cause in their own exceptions.
        while (inner := cause.__cause__ or cause.__context__) is not None:
            cause = inner
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise RefusedError(f"its certificate is not valid: {cause.verify_message}") from None
        if isinstance(cause, TimeoutError):
            raise TransientError(f"silent for {timeout:g} seconds") from None
        error_type = _BrokenOffError if isinstance(cause, IncompleteRead) else TransientError
        raise error_type(str(cause) or type(cause).__name__) from None


def _begin(
    response: requests.Response,
    address: str,
    part: PartialFile,
    origin: tuple[str, int] | None,
    size: int | None,
) -> int | None:
    """Decide from the response's head whether to continue or empty `part`; return the length, if known."""
    status, headers = response.status_code, response.headers
    if status == 416:
        part.clear()
        raise TransientError("the server's file is shorter than the part that was already here")
    _check_head(response, address)
    etag = headers.get("ETag", "")
    validator = etag if etag and not etag.startswith("W/") else headers.get("Last-Modified")
    if status == 206:
        span = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
        found = (int(span[1]), (validator, int(span[2]))) if span else None
        if origin is None or found != (part.size, origin):
            part.clear()
            raise TransientError("the part that is already here comes from another file")
        return origin[1]
    part.clear()
    total = _length(response, size)
    if validator and total is not None:
        try:
            write_json(part.note, {"address": address, "validator": validator, "total": total})
        except OSError as error:
            raise InputError(f"{part.note}: cannot be written: {error.strerror}") from None
    return total


def _check_head(response: requests.Response, address: str) -> None:
    """Raise an error if the response is not a file."""
    status = response.status_code
    if not 200 <= status < 300:
        error = TransientError if status in _WORTH_RETRYING or status >= 500 else RefusedError
        hint = f" ({_password_of(address)[1]})" if status == 401 and not response.history else ""
        raise error(f"HTTP {status} {response.reason}{hint}")
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind == "text/html" and not address.endswith((".html", ".htm")):
        raise RefusedError("answered with a web page instead of the file")


def _length(response: requests.Response, size: int | None) -> int | None:
    """The length that a response gives, if any; an error if it is not the expected `size`."""
    length = response.headers.get("Content-Length", "")
    total = int(length) if is_count(length) else None
    if None not in (size, total) and size != total:
        raise ChangedError(f"has {total} bytes, the registry says {size}")
    return total
