"""Numbers as people write them: digits, perhaps with a sign, a decimal point and an exponent.

Python's own `float` and `int` also read `1_0` as 10, words such as `nan`, and digits of other scripts.
"""

import re

from paraphrastic.base.errors import shown

# No text can match in several ways, so that matching takes linear time.
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def read_number(text: str) -> float:
    """The finite number that a text is; white space around it does not count.

    Raises:
        ValueError: the text is no such number; the message is the cause.
    """
    if NUMBER.fullmatch(text.strip()) and abs(value := float(text)) < float("inf"):
        return value
    raise ValueError(f"{shown(text)} is not a number")


def is_count(text: str) -> bool:
    """Whether a text is digits and nothing else."""
    return text.isascii() and text.isdigit()
