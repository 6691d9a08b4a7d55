"""Download an http(s) address into a partial file, and resume where an earlier attempt stopped.

A partial file is only continued if the server confirms that it still serves the same bytes. The address,
validator and length that this needs are kept in a small JSON file beside it.
"""

import netrc
import os
import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPResponse
from io import BufferedReader
from pathlib import Path
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from urllib3 import Retry
from urllib3.exceptions import HTTPError, InvalidHeader

from paraphrastic.base.errors import on_one_line
from paraphrastic.base.files import write_json
from paraphrastic.base.numbers import is_count
from paraphrastic_pipeline.base.addresses import hide_secrets
from paraphrastic_pipeline.base.files import parse_json

# A server that sends fewer bytes than this within the timeout counts as silent.
LEAST_BYTES = 1000
# Seconds to wait at most if a busy server asks for it.
_LONGEST_WAIT = 300
_CHUNK_BYTES = 1 << 20
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_WORTH_RETRYING = (408, 425, 429)


class AddressError(Exception):
    """An address does not deliver the file; says so on one line without secrets."""

    def __init__(self, cause: object) -> None:
        super().__init__(hide_secrets(on_one_line(cause)))


class ChangedError(AddressError):
    """The address has another file than the one in the registry."""


class TransientError(AddressError):
    """The address may deliver the file on another attempt, after `wait` seconds if the server asks for it."""

    def __init__(self, cause: object, wait: float | None = None) -> None:
        super().__init__(cause)
        self.wait = wait


class _PacedResponse(HTTPResponse):
    """Gives up on a server that becomes too slow, with an `OSError`.

    A socket's timeout only catches silence. Here, fewer than `LEAST_BYTES` within the timeout are an error
    too, and so is a head (everything before the content) that takes longer. This is checked below the parser,
    which would go on reading an endless header or the size of a chunk.
    """

    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        raw = self.fp.detach()
        self._receive, self._timeout = raw.readinto, sock.gettimeout()
        self._begun, self._count, self._in_head = 0.0, 0, True
        raw.readinto = self._readinto  # type: ignore[method-assign]
        self.fp = BufferedReader(raw)

    def begin(self) -> None:
        super().begin()
        self._in_head = False

    def _readinto(self, buffer: Any) -> int:
        received = cast(int, self._receive(buffer))
        now = time.monotonic()
        if self._count == 0:
            self._begun = now
        self._count += received
        if received and now - self._begun >= self._timeout:
            if self._in_head or self._count < LEAST_BYTES:
                raise OSError(f"too slow: {self._count} bytes in {self._timeout:g} seconds")
            self._count = 0
        return received


class _Adapter(HTTPAdapter):
    """Connections that are dropped if they are too slow, and that trust the system's certificates."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs, ssl_context=ssl.create_default_context())

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> Any:
        pool = super().get_connection_with_tls_context(*args, **kwargs)
        pool.ConnectionCls = type("_Connection", (pool.ConnectionCls,), {"response_class": _PacedResponse})
        return pool


class _Session(requests.Session):
    """Follows redirects to http(s) only, and from https to https only, with no password for other hosts."""

    def __init__(self, address: str) -> None:
        super().__init__()
        # What is needed of the environment is set here: proxies, and the password of one host.
        self.trust_env = False
        self.auth = _password_of(address)[0]
        self.proxies = get_environ_proxies(address)
        self.headers.update({"Accept-Encoding": "identity", "User-Agent": "paraphrastic"})
        self.adapters = {"http://": _Adapter(), "https://": _Adapter()}

    def rebuild_proxies(self, prepared_request: requests.PreparedRequest, proxies: Any) -> dict[str, str]:
        return get_environ_proxies(cast(str, prepared_request.url))

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target, scheme = super().get_redirect_target(resp), urlsplit(resp.url).scheme
        allowed = ("https",) if scheme == "https" else ("http", "https")
        if target is not None and urlsplit(urljoin(resp.url, target)).scheme not in allowed:
            answer = f"HTTP {resp.status_code} {resp.reason}"
            raise AddressError(f"{answer}: redirection from {scheme} to {target!r} is not allowed")
        return target


def receive(address: str, part: Path, *, size: int | None, timeout: float) -> None:
    """Complete `part` with the content of the http(s) `address`, after the bytes that it already has.

    `size` is the expected length in bytes, and `timeout` the longest silence in seconds. Raises an
    `AddressError`, or an `OSError` if the part cannot be written.
    """
    origin = _origin(part, address)
    if origin is None:
        discard(part)
    start = held_bytes(part)
    if origin and start == origin[1]:
        return
    headers = {"Range": f"bytes={start}-", "If-Range": origin[0]} if origin and start else {}
    with _opened("GET", address, headers, timeout) as response:
        resumed = response.status_code == 206
        validator, begun, total = _described(response)
        if response.status_code == 416 or (resumed and (begun, (validator, total)) != (start, origin)):
            discard(part)
            raise TransientError("the part that is already here comes from another file")
        _check(response, address, total, size)
        if not resumed:
            discard(part)
            if validator and total is not None:
                write_json(_note(part), {"address": address, "validator": validator, "total": total})
        # A lack of bytes is found below, where the length of a resumed file is known too.
        response.raw.enforce_content_length = False
        with part.open("ab") as stream:
            while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=False):
                stream.write(chunk)
                stream.flush()  # so that a stall or a kill loses nothing
    if total is not None and (held := held_bytes(part)) < total:
        raise TransientError(f"the connection closed after {held} of {total} bytes")


def check_address(address: str, *, size: int | None, timeout: float) -> None:
    """Ask the http(s) `address` for the head of a file; the arguments and errors are those of `receive`."""
    for method in ("HEAD", "GET"):
        with _opened(method, address, {}, timeout) as response:
            # Some servers only answer questions for the whole file; its content is then not read.
            if method == "GET" or response.status_code not in (403, 404, 405, 501):
                _check(response, address, _described(response)[2], size)
                return


def held_bytes(part: Path) -> int:
    """The size of a partial file, which need not exist yet."""
    return part.stat().st_size if part.exists() else 0


def discard(part: Path) -> None:
    """Remove a partial file, if there is one, and the note on the origin of its bytes."""
    part.unlink(missing_ok=True)
    _note(part).unlink(missing_ok=True)


def _note(part: Path) -> Path:
    return Path(f"{part}.json")


def _origin(part: Path, address: str) -> tuple[str, int] | None:
    """Validator and length of the whole file, if the bytes in `part` came from `address`."""
    try:
        known = parse_json(_note(part).read_text(encoding="utf-8"))
        return (str(known["validator"]), int(known["total"])) if known["address"] == address else None
    except (OSError, ValueError, LookupError, TypeError):
        return None  # absent or damaged: the file is fetched from its beginning


@contextmanager
def _opened(
    method: str, address: str, headers: dict[str, str], timeout: float
) -> Iterator[requests.Response]:
    """A response, to be read in the `with` block; what can happen to a connection is an `AddressError`."""
    try:
        with (
            _Session(address) as session,
            session.request(method, address, headers=headers, timeout=timeout, stream=True) as response,
        ):
            yield response
    except (requests.TooManyRedirects, ValueError) as error:
        raise AddressError(f"not a usable address: {error}") from None
    except (requests.RequestException, HTTPError) as error:
        cause: BaseException = error
        # requests and urllib3 wrap the cause in their own exceptions.
        while (inner := cause.__cause__ or cause.__context__) is not None:
            cause = inner
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise AddressError(f"its certificate is not valid: {cause.verify_message}") from None
        if isinstance(cause, TimeoutError):
            raise TransientError(f"silent for {timeout:g} seconds") from None
        raise TransientError(str(cause) or type(cause).__name__) from None


def _password_of(address: str) -> tuple[tuple[str, str] | None, str]:
    """User and password of an address's host in `.netrc`, and what to say if the server wants others.

    requests would also use the entry for all other hosts, so any server could ask for its password.
    """
    path, host = os.environ.get("NETRC") or None, urlsplit(address).hostname or ""
    name = path or "~/.netrc"
    try:
        user, _, password = netrc.netrc(path).hosts[host]
    except (FileNotFoundError, KeyError):
        return None, f"{name} has no user and password for {host}"
    except netrc.NetrcParseError as error:
        # If it names a line, the message may quote a password.
        return None, f"{name}: line {error.lineno} is damaged" if error.lineno else error.msg
    except (OSError, ValueError):
        return None, f"{name} cannot be read"
    return (user, password), f"with user and password from {name}"


def _described(response: requests.Response) -> tuple[str | None, int, int | None]:
    """What a response's head says of the file: its validator, where the content begins, and its length."""
    headers = response.headers
    etag, length = headers.get("ETag", ""), headers.get("Content-Length", "")
    # A weak tag promises no bytes.
    validator = etag if etag and not etag.startswith("W/") else headers.get("Last-Modified")
    if response.status_code == 206:
        span = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
        return validator, int(span[1]) if span else -1, int(span[2]) if span else None
    return validator, 0, int(length) if is_count(length) else None


def _check(response: requests.Response, address: str, total: int | None, size: int | None) -> None:
    """Raise an error if the response is not a file, or one whose length is `total` and not `size`."""
    status = response.status_code
    answer = f"HTTP {status} {response.reason}"
    if status in _WORTH_RETRYING or status >= 500:
        wait = None
        with suppress(InvalidHeader):
            wait = Retry().get_retry_after(response.raw)
        raise TransientError(answer, wait and min(wait, _LONGEST_WAIT))
    if not 200 <= status < 300:
        hint = f" ({_password_of(address)[1]})" if status == 401 and not response.history else ""
        raise AddressError(answer + hint)
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind == "text/html" and not address.endswith((".html", ".htm")):
        raise AddressError("answered with a web page instead of the file")
    if None not in (size, total) and size != total:
        raise ChangedError(f"has {total} bytes, the registry says {size}")
