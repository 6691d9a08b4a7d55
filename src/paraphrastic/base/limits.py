"""Limits of values that come from a file, beside their types: `Annotated[int, Range(1, 10)]`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated
from unicodedata import category


@dataclass(frozen=True, slots=True)
class Range:
    """A number is at least `least` and at most `most`."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Text:
    """A text passes the test; `words` say in a message which texts do."""

    words: str
    passes: Callable[[str], bool]


def is_name(text: str) -> bool:
    """Whether a text is short, on one line and without control characters, as names are."""
    return 0 < len(text) <= 1000 and not any(category(each) in ("Cc", "Cs", "Zl", "Zp") for each in text)


Name = Annotated[str, Text("a name on one line", is_name)]
# More than anything is counted up to.
MANY = 10**12
Count = Annotated[int, Range(0, MANY)]
# The dimension of vectors.
Size = Annotated[int, Range(1, 1 << 16)]
