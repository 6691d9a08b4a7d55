"""Limits of values that come from a file, beside their types: `Annotated[int, Range(1, 10)]`."""

import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Annotated, Any
from unicodedata import category

from paraphrastic.base.errors import shown


@dataclass(frozen=True, slots=True)
class Range:
    """A number is at least `least`, or larger than that if the range `is_open`, and at most `most`."""

    least: float
    most: float = math.inf
    is_open: bool = False

    def fault(self, value: float) -> str | None:
        """Why the number is not in the range; None if it is."""
        if self.is_open and value <= self.least:
            return f"{value!r} is less than or equal to the minimum of {self.least}"
        if value < self.least:
            return f"{value!r} is less than the minimum of {self.least}"
        return f"{value!r} is greater than the maximum of {self.most}" if value > self.most else None


@dataclass(frozen=True, slots=True)
class Length:
    """A list, a mapping or a text has at least and at most so many parts, which may have to be `distinct`."""

    least: int = 0
    most: int | None = None
    distinct: bool = False

    def fault(self, value: Collection[Any]) -> str | None:
        """Why the parts are too few, too many or repeated; None if they are not."""
        count = f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"
        if self.least and not value:
            return "is empty"
        if len(value) < self.least:
            return f"has {count}, at least {self.least} are needed"
        if self.most is not None and len(value) > self.most:
            return f"has {count}, at most {self.most} are allowed"
        if self.distinct and isinstance(value, list):
            twice = (item for place, item in enumerate(value) if item in value[:place])
            return next((f"{shown(item)} is named twice" for item in twice), None)
        return None


@dataclass(frozen=True, slots=True)
class OneOf:
    """A text is one of those that are listed, which a program has gathered."""

    values: tuple[str, ...]

    def fault(self, value: str) -> str | None:
        """Why the text is not listed; None if it is."""
        return None if value in self.values else f"{shown(value)} is not one of {', '.join(self.values)}"


@dataclass(frozen=True, slots=True)
class Text:
    """A text passes the test and has the pattern; `words` say in a message which texts do."""

    words: str
    test: Callable[[str], bool] | None = None
    pattern: str = ""

    def fault(self, value: str) -> str | None:
        """Why the text is not such a text; None if it is."""
        # In Python, `$` also matches before a final newline.
        has_pattern = re.search(re.sub(r"\$$", r"\\Z", self.pattern), value) is not None
        passes = has_pattern and (self.test is None or self.test(value))
        return None if passes else f"{shown(value)} is not {self.words}"


@dataclass(frozen=True, slots=True)
class Overrides:
    """A mapping with some settings of a section, which count in place of the section's own; `only` these."""

    section: Callable[[], type]
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Also:
    """There may be such a section in place of the value, by which a check replaces it."""

    section: type


def is_name(text: str) -> bool:
    """Whether a text is short, on one line and without control characters, as names are."""
    return 0 < len(text) <= 1000 and not any(
        category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text
    )


Name = Annotated[str, Text("a name on one line", is_name)]
# More than anything is counted up to.
MANY = 10**12
Count = Annotated[int, Range(0, MANY)]
# The dimension of vectors.
Size = Annotated[int, Range(1, 1 << 16)]
