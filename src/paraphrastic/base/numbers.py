"""Numbers as people write them: digits, perhaps with a sign, a decimal point and an exponent.

Python's own `float` and `int` also read `1_0` as 10, words such as `nan`, and digits of other scripts.
"""

import re
from contextlib import suppress

from paraphrastic.base.errors import shown

# No text can match in several ways, so that matching takes linear time.
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WITH_COMMA = re.compile(r"([+-]?)([0-9]*),([0-9]+)")
# A comma before three digits can also separate thousands.
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
# Whole numbers with more digits need not fit into 64 bits.
_MOST_DIGITS = 18


def read_number(text: str) -> float:
    """The number that a text is; spaces and tabs around it do not count.

    Raises:
        ValueError: the text is no number, or one that is too large; the message is the cause.
    """
    written = text.strip(" \t")
    if NUMBER.fullmatch(written):
        value = float(written)
        if abs(value) == float("inf"):
            raise ValueError(f"{shown(text)} is too large")
        return value
    if point := with_point(written):
        thousands = f" or {written.replace(',', '')}" if _THOUSANDS.fullmatch(written) else ""
        raise ValueError(f"{shown(text)} has a decimal comma: write {point}{thousands}")
    raise ValueError(f"{shown(text)} is not a number")


def with_point(text: str) -> str | None:
    """A number with a decimal comma, such as 0,9, written with a point; None for any other text."""
    match = _WITH_COMMA.fullmatch(text)
    return f"{match[1]}{match[2] or 0}.{match[3]}" if match else None


def read_count(text: str) -> int:
    """The whole number that a text of digits is.

    Raises:
        ValueError: the text has anything but digits, or too many; the message is the cause.
    """
    if not is_count(text):
        raise ValueError(f"{shown(text)} is not a whole number")
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"{shown(text)} is too large")
    return int(text)


def is_count(text: str) -> bool:
    """Whether a text is digits and nothing else."""
    return text.isascii() and text.isdigit()


def is_number(text: str) -> bool:
    """Whether `read_number` reads a text."""
    with suppress(ValueError):
        read_number(text)
        return True
    return False
