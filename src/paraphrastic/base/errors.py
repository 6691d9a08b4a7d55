"""The one exception that users see, and text from anywhere in its message."""

import re

# All control characters, and lone surrogates, which stand for bytes of a file name that are not UTF-8.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class InputError(Exception):
    """Something that the user supplied cannot be used.

    The message is one line that names the file (and line, key or address) and the cause, or several lines if
    there are several faults. The command line and the pipeline print it unchanged, without a traceback. Names
    and text in it can come from anywhere, so control characters are escaped: a terminal would obey them.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(escaped, lines)))


def escaped(text: str) -> str:
    """`text` on one line, with control characters and bytes that are not UTF-8 escaped."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def on_one_line(words: object) -> str:
    """A foreign message, such as another library's, on one line and without control characters."""
    return escaped(" ".join(str(words).split()))


def shown(value: object) -> str:
    """`value` as a message shows it: on one line, cut if it is long."""
    return cut(repr(value), 40)


def cut(text: str, most: int = 200) -> str:
    """`text`, or its beginning if it is too long for a message."""
    return text if len(text) <= most else f"{text[:most]}…"
