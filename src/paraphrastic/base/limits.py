"""Limits of values that come from a file, beside their types: `Annotated[int, Range(1, 10)]`."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated
from unicodedata import category


@dataclass(frozen=True, slots=True)
class Range:
    """A number is at least `least`, or larger than that if the range `is_open`, and at most `most`."""

    least: float
    most: float = math.inf
    is_open: bool = False

    def passes(self, value: float) -> bool:
        """Whether the number is in the range."""
        return self.least <= value <= self.most and not (self.is_open and value == self.least)

    @property
    def words(self) -> str:
        """The range in words, after those for the kind of number."""
        least = f"above {self.least:,}" if self.is_open else f"from {self.least:,}"
        return least if self.most == math.inf else f"{least} to {self.most:,}"


@dataclass(frozen=True, slots=True)
class Length:
    """A list, a mapping or a text has at least and at most so many parts, which may have to be `distinct`."""

    least: int = 0
    most: int | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value is one of those that are listed, which a program has gathered."""

    values: tuple[str, ...]

    def passes(self, value: str) -> bool:
        """Whether the value is listed."""
        return value in self.values


@dataclass(frozen=True, slots=True)
class Text:
    """A text passes the test, or matches the whole pattern; `words` say in a message which texts do."""

    words: str
    test: Callable[[str], bool] | None = None
    pattern: str | None = None

    def passes(self, value: str) -> bool:
        """Whether the text is such a text."""
        # In Python, `$` also matches before a final newline.
        pattern = re.sub(r"\$$", r"\\Z", self.pattern or "")
        return re.search(pattern, value) is not None and (self.test is None or self.test(value))


def is_name(text: str) -> bool:
    """Whether a text is short, on one line and without control characters, as names are."""
    return 0 < len(text) <= 1000 and not any(category(each) in ("Cc", "Cs", "Zl", "Zp") for each in text)


Name = Annotated[str, Text("a name on one line", is_name)]
# More than anything is counted up to.
MANY = 10**12
Count = Annotated[int, Range(0, MANY)]
# The dimension of vectors.
Size = Annotated[int, Range(1, 1 << 16)]
