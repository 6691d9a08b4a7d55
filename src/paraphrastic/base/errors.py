"""The one exception that users see, text from anywhere in messages, and what to say when memory runs out."""

import difflib
import errno
import logging
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

from paraphrastic.base.addresses import hide_secrets

# Not every system has it. `lack_of_memory` needs it when there is no memory left to load it.
with suppress(ImportError):
    import resource  # noqa: F401

# All control characters but the newline, which separates the lines of a traceback, and lone surrogates, which
# stand for bytes of a file name that are not UTF-8, and which no stream takes.
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Characters of a value that a message shows.
_SHOWN = 40
# A thread fails to start if there is no memory for its stack.
_NO_MEMORY = re.compile(
    r"bad_alloc|out of memory|(?:can't|cannot|unable to) allocate|malloc of size"
    r"|can't start new thread|failed to launch worker thread|^Resource temporarily unavailable$",
    re.I,
)


class InputError(Exception):
    """Something that the user supplied cannot be used.

    The message is one line that names the file (and line, key or address) and the cause, or several lines if
    there are several faults. The command line and the pipeline print it unchanged, without a traceback. Names
    and text in it can come from anywhere, so control characters are escaped: a terminal would obey them, and
    a line of its own would look like a message of ours. Secrets in addresses are hidden.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(spelled_out(line).replace("\n", "\\n") for line in lines))


class LogFormatter(logging.Formatter):
    """Writes log messages, which name files and quote text from anywhere, with `spelled_out`."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        return spelled_out(super().format(record))


def spelled_out(text: str) -> str:
    """`text` without secrets, and with control characters and bytes of names that are not UTF-8 escaped.

    Newlines stay.
    """
    return hide_secrets(_CONTROL.sub(lambda match: repr(match[0])[1:-1], text))


def on_one_line(words: object) -> str:
    """A foreign message, such as another library's, on one line, without control characters and secrets."""
    return spelled_out(" ".join(str(words).split()))


def shown(value: object) -> str:
    """`value` as a message shows it: on one line, cut if it is long."""
    return cut(repr(value), _SHOWN)


def cut(text: str, most: int = 200) -> str:
    """`text`, or its beginning if it is too long for a message."""
    return text if len(text) <= most else f"{text[:most]}…"


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
