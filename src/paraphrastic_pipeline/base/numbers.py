"""Numbers in people's files and settings, besides what `paraphrastic.base.numbers` reads."""

import re
from contextlib import suppress

from paraphrastic.base.numbers import read_number

_WITH_COMMA = re.compile(r"([+-]?)([0-9]*),([0-9]+)")


def with_point(text: str) -> str | None:
    """A number with a decimal comma, such as 0,9, written with a point; None for any other text."""
    match = _WITH_COMMA.fullmatch(text)
    return f"{match[1]}{match[2] or 0}.{match[3]}" if match else None


def is_number(text: str) -> bool:
    """Whether `read_number` reads a text."""
    with suppress(ValueError):
        read_number(text)
        return True
    return False
