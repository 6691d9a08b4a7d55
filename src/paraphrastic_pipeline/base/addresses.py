"""Addresses: which can be used, and their secrets, which are refused where given and hidden in messages."""

import re
from urllib.parse import unquote, urlsplit

# An address within a text.
_WRITTEN = re.compile(r"""\b[a-z][a-z0-9+.-]*:/+[^\s"<>]*""", re.I)
# A user name, a password or a token before the host. A password may contain an @. If it contains a slash, the
# host seems to have a port that is not a number.
_USER = re.compile(
    r"""(\b(?!file:)[a-z][a-z0-9+.-]*:/+)"""
    r"""(?:[^\s/?#"<>]*@|[^\s/?#"<>\[]*:(?!\d*(?:[/?#\s]|$))[^\s"<>]*@)""",
    re.I,
)
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*):/+([^/?#]*)([^?#]*)(.*)", re.I | re.S)
_PARAMETER = re.compile(r"""([?&;#])([^\s=&;?#]+)=([^\s&;#"'<>]+)""")
# Parameters that open what is closed to others, such as `access_token` and `X-Amz-Signature`.
_SECRET_NAME = re.compile(
    r".*(?:token(?!s$)|signature|passw|passphrase|secret|credential|hmac|jwt|sessionid"
    r"|(?:api|access|private|auth|subscription)[-_]?key).*|sig|key|pass|pwd?|auth|authorization|sas",
    re.I,
)


def hide_secrets(text: str) -> str:
    """Return a text with `***` in place of the user names, passwords and tokens in its addresses.

    Only addresses with a scheme are changed: `me:word@host` and `name?key=1` may be names of files.
    """
    return _WRITTEN.sub(lambda address: _without_secrets(address[0]), text)


def _without_secrets(address: str) -> str:
    return _PARAMETER.sub(
        lambda each: f"{each[1]}{each[2]}=***" if _is_secret(each) else each[0], _USER.sub(r"\1***@", address)
    )


def secret_error(text: str) -> str | None:
    """Why a text cannot be used as an address, or have one in it, because of a secret; None if it can."""
    reason = "which would reach logs and results"
    if _has_user(text) or _USER.search(text):
        return f"has a user name or password in it, {reason}: write them into ~/.netrc"
    for parameter in _PARAMETER.finditer(text) if ":/" in text else ():
        if _is_secret(parameter):
            name = unquote(parameter[2])
            return f"has a secret in it, {name!r}, {reason}: fetch the file by hand into resources/manual"
    return None


def _has_user(text: str) -> bool:
    """Whether an address has a user name or password before its host, whatever characters these consist of.

    A password that contains a slash looks like a port, and the rest of it like a path. If the first name is
    no host of several names, an @ of a real path has to be written as %40.
    """
    address = _ADDRESS.match(text.strip())
    if not address or address[1].lower() == "file":
        return False
    before, path, rest = unquote(address[2]), address[3], address[4]
    host, colon, port = before.rpartition(":")
    if "@" in before or not colon or host.startswith("["):
        return "@" in before
    return ("@" in path and (not port.isdigit() or "." not in host)) or ("@" in rest and not port.isdigit())


def _is_secret(parameter: re.Match[str]) -> bool:
    # Servers decode the names of parameters.
    return _SECRET_NAME.fullmatch(unquote(parameter[2]).strip()) is not None


def address_error(address: str) -> str | None:
    """Why `address` cannot be used; None if it is a good http, https or file address without secrets."""
    if error := secret_error(address):
        return error
    try:
        parts = urlsplit(address)
        _ = parts.port  # an invalid port raises only on access
    except ValueError as error:
        return f"not a usable address: {error}"
    if parts.scheme not in ("http", "https", "file"):
        return "not an http, https or file address"
    if parts.scheme == "file":
        return "a file address with a host" if parts.netloc else None if parts.path else "has no path"
    if not parts.hostname:
        return "names no host"
    path = unquote(parts.path)
    return "has no plain path" if not path.strip("/") or ".." in path.split("/") else None
