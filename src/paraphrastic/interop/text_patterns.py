"""Regular expressions with which other libraries prepare text as `base.text` does."""

import functools
from collections.abc import Iterable

from paraphrastic.base.text import INVISIBLE, SEPARATORS

# How expressions write a code point: those of Hugging Face's tokenizers, which are Oniguruma's, of JavaScript
# with the flag `u`, and of Python.
TOKENIZERS, JAVASCRIPT, PYTHON = r"\x{{{:x}}}", r"\u{{{:x}}}", r"\U{:08x}"
# All planes that have characters, except private ones.
CHARACTERS = [chr(code) for code in (*range(0xD800), *range(0xE000, 0x40000), *range(0xE0000, 0xE1000))]


def any_of(characters: Iterable[str], *, negated: bool = False, form: str = TOKENIZERS) -> str:
    """An expression for any one of the characters or, if negated, any other one."""
    ranges: list[list[int]] = []
    for code in sorted({ord(character) for character in characters}):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    parts = "".join("-".join(map(form.format, sorted({*ends}))) for ends in ranges)
    return f"[{'^' if negated else ''}{parts}]"


def cleaning(form: str) -> list[tuple[str, str]]:
    """What `visible` does: expressions, and what replaces their matches, one after the other."""
    separators, invisible = (
        any_of((chr(code) for first, last in ranges for code in range(first, last + 1)), form=form)
        for ranges in (SEPARATORS, INVISIBLE)
    )
    return [(separators, " "), (invisible, "")]


@functools.cache
def final_sigma() -> str:
    """An expression of tokenizers for a Σ that `str.lower` writes as ς, as their lower-casing never does."""
    cased = {character for character in CHARACTERS if (character + "Σ").lower()[-1] == "ς"}
    ignored = {character for character in CHARACTERS if (f"A{character}Σ").lower()[-1] == "ς"} - cased
    before, between = any_of(cased), any_of(ignored)
    return f"{before}{between}*+\\KΣ(?!{between}*+{before})"
