"""Errors of steps: when memory runs out, how logs are written, and names that were mistyped."""

import difflib
import errno
import logging
import re
from collections.abc import Iterable

from paraphrastic.base.errors import InputError, escaped

# A thread fails to start if there is no memory for its stack.
_NO_MEMORY = re.compile(
    r"bad_alloc|out of memory|(?:can't|cannot|unable to) allocate|malloc of size"
    r"|can't start new thread|failed to launch worker thread|^Resource temporarily unavailable$",
    re.I,
)
# A user name or a password before the host of an address, and what follows a path if one of its parameters
# opens what is closed to others, such as `access_token` and `X-Amz-Signature`.
_USER = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/?#]*(?:@|%40)", re.I)
_TOKEN = re.compile(
    r"(://[^\s?;#]*)[?;#](?:\S*(?:token(?!s=)|signature|passw|secret|credential|(?:api|access|auth)[-_]?key)"
    r"[^\s=&;#]*|(?:\S*[&;#])?(?:sig|key|pass|auth))=\S*",
    re.I,
)


class LogFormatter(logging.Formatter):
    """Writes log messages, which name files and quote text from anywhere, with `spelled_out`."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        return spelled_out(super().format(record))


def spelled_out(text: str) -> str:
    """`text` with control characters escaped, and without the secrets of its addresses; newlines stay."""
    return hide_secrets("\n".join(map(escaped, text.split("\n"))))


def hide_secrets(text: str) -> str:
    """Return a text with `***` in place of the user names, passwords and tokens in its addresses."""
    return _TOKEN.sub(r"\1?***", _USER.sub(r"\1***@", text))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception, from any library, says that memory ran out."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    named = isinstance(error, InputError) or getattr(error, "filename", None) is not None
    return not named and _NO_MEMORY.search(str(error)) is not None


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """The end of a message about an unknown name: the most similar known name, or else `otherwise`."""
    guess = difflib.get_close_matches(name, list(known), n=1)
    hint = f"did you mean {guess[0]!r}?" if guess else otherwise
    return f"; {hint}" if hint else ""
