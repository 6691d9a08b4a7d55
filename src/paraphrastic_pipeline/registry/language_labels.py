"""Which labels of a language identifier stand for a language.

The table beside this module has the 176 labels of fastText's lid.176, each with the codes of the languages
that it counts for. These are its own codes in ISO 639-1, 639-2/B and 639-3 (its registration authority's
tables of July 2026); those of its macrolanguage, and of the members if it is one itself; and retired codes,
such as `iw` for `he`. So zh counts the labels zh, wuu and yue; nb counts no; and sr counts sr and sh, but not
hr.

There are five exceptions. lid.176 has learned from Wikipedia, which calls Alemannic als (in ISO 639-3, this
is Tosk Albanian), Bhojpuri bh, the two languages of Emilia-Romagna eml, and all kinds of Nahuatl nah. And ms
means Standard Malay, although its macrolanguage has Indonesian and Minangkabau, too.
"""

import functools
from collections.abc import Collection
from pathlib import Path

_TABLE = Path(__file__).with_name("language_labels.tsv")


@functools.cache
def lid176() -> dict[str, frozenset[str]]:
    """The labels of lid.176, with the codes that each one counts for."""
    _, *rows = _TABLE.read_text(encoding="utf-8").splitlines()
    return {label: frozenset(codes.split()) for label, codes in (row.split("\t") for row in rows)}


def shortest_code(language: str) -> str:
    """The code of ISO 639-1, with two letters, for one of three letters such as `tur`, if there is just one.

    A language that has a label of its own with three letters, such as `ceb`, keeps its code.
    """
    codes = [label for label in labels_of(language) if len(label) == 2]
    return codes[0] if len(codes) == 1 and language not in lid176() else language


def labels_of(language: str, known: Collection[str] | None = None) -> tuple[str, ...]:
    """The labels that stand for a language, among those that an identifier has.

    Args:
        language: a code of ISO 639-1, 639-2 or 639-3.
        known: the identifier's labels; by default those of lid.176. A label that is the code itself counts
            if the table has none.
    """
    known = lid176() if known is None else known
    listed = tuple(label for label, codes in lid176().items() if language in codes and label in known)
    return listed or ((language,) if language in known else ())
