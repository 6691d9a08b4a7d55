"""Which addresses can be used: those of files on the web or on the disk, without a password in them."""

from urllib.parse import unquote, urlsplit

from paraphrastic_pipeline.base.errors import hide_secrets


def secret_error(text: str) -> str | None:
    """Why a text that has an address in it cannot be used, because of a secret; None if it can."""
    if hide_secrets(text) == text:
        return None
    return "has a password or a token in it, which logs would show: use ~/.netrc, or fetch the file by hand"


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
