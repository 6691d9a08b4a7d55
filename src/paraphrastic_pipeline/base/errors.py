"""Errors of steps: when memory runs out, how logs are written, and names that were mistyped."""

import difflib
import errno
import logging
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

from paraphrastic.base.errors import InputError, escaped, on_one_line

# Not every system has it. `lack_of_memory` needs it when there is no memory left to load it.
with suppress(ImportError):
    import resource  # noqa: F401

# A thread fails to start if there is no memory for its stack.
_NO_MEMORY = re.compile(
    r"bad_alloc|out of memory|(?:can't|cannot|unable to) allocate|malloc of size"
    r"|can't start new thread|failed to launch worker thread|^Resource temporarily unavailable$",
    re.I,
)
# A user name or a password before the host of an address, and parameters with a token in them.
_USER = re.compile(r"""(\b[a-z][a-z0-9+.-]*://)[^\s/?#"'<>]*@""", re.I)
_TOKEN = re.compile(r"""(://[^\s?"'<>]*\?)[^\s"'<>]*(?:token|signature|secret)=[^\s"'<>]*""", re.I)


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
    return _TOKEN.sub(r"\1***", _USER.sub(r"\1***@", text))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception, from any library, says that memory ran out."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    named = isinstance(error, InputError) or getattr(error, "filename", None) is not None
    return not named and _NO_MEMORY.search(str(error)) is not None


def lack_of_memory(error: BaseException) -> str | None:
    """Say in one line what needed how much memory; None if the exception does not come from a lack of it.

    What reads a file may take any exception for damage of the file, so causes count as well.
    """
    if not any(map(is_out_of_memory, _causes(error))):
        return None
    import resource

    words = on_one_line(error)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    bound = f" of at most {limit / 1e9:.1f} GB (ulimit -v)" if limit != resource.RLIM_INFINITY else ""
    return f"not enough memory{words and ': '}{words}; the process had {used / 1e9:.1f} GB{bound} so far"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """The end of a message about an unknown name: the most similar known name, or else `otherwise`."""
    guess = difflib.get_close_matches(name, list(known), n=1)
    hint = f"did you mean {guess[0]!r}?" if guess else otherwise
    return f"; {hint}" if hint else ""
