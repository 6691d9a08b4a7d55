"""The one exception that users meet, and how to tell of another that memory ran out."""

import re

# All but the end of a line, which stands between the faults of a configuration.
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_CONTROL_OR_END = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# A thread that cannot be started has got no memory for its stack.
_NO_MEMORY = re.compile(
    r"bad_alloc|out of memory|(?:can't|cannot|unable to) allocate|malloc of size"
    r"|can't start new thread|failed to launch worker thread",
    re.I,
)


class InputError(Exception):
    """Something that the user gave us cannot be used.

    The message is one line that names the file (and line, key or address) and the cause; the command
    line and the pipeline print it as it stands, without a traceback. Control characters, which would be
    commands to a terminal, are spelled out: names and text come from elsewhere.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_CONTROL.sub(_spelled_out, message))


def on_one_line(text: str) -> str:
    """What a stranger says, with control characters and ends of lines spelled out."""
    return _CONTROL_OR_END.sub(_spelled_out, text)


def _spelled_out(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception, of whatever library, says that it got no memory."""
    return isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)) is not None
