"""Which addresses can be used: those of files on the web or on the disk, without a password in them."""

import re
from urllib.parse import unquote, urlsplit

# The part of an address before its path, and the rest.
_ADDRESS = re.compile(r"\b(?!file:)[a-z][a-z0-9+.-]*://([^\s/?#]*)(\S*)", re.I)
_PARAMETER = re.compile(r"[?&;#]([^=&;#]+)=")
# Parameters that open what is closed to others, such as `access_token` and `X-Amz-Signature`.
_SECRET = re.compile(
    r"token(?!s$)|signature|passw|secret|credential|(?:api|access|auth)[-_]?key|^(?:sig|key|pass|auth)$", re.I
)


def secret_error(text: str) -> str | None:
    """Why a text that has an address in it cannot be used, because of a secret; None if it can."""
    for host, rest in _ADDRESS.findall(text):
        reason = "which would reach logs and results"
        if "@" in unquote(host):
            return f"has a user name or password in it, {reason}: write them into ~/.netrc"
        if any(_SECRET.search(unquote(name)) for name in _PARAMETER.findall(rest)):
            return f"has a secret in it, {reason}: fetch the file by hand into resources/manual"
    return None


def address_error(address: str) -> str | None:
    """Why `address` cannot be used; None if it is a good http, https or file address without secrets."""
    if error := secret_error(address):
        return f"the address {error}"
    try:
        parts = urlsplit(address)
        _ = parts.port  # an invalid port raises only on access
    except ValueError:
        return "not a usable address"  # the error may quote a password that has a slash in it
    if parts.scheme not in ("http", "https", "file"):
        return f"{address!r} is not an http, https or file address"
    if (parts.scheme == "file") != (not parts.hostname):
        return f"{address!r}: http and https need a host, and file has none"
    if not parts.path.strip("/") or ".." in unquote(parts.path).split("/"):
        return f"{address!r} has no plain path"
    return None
