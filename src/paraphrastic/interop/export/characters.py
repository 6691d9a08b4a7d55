"""Sets of characters, and regular expressions of them for Oniguruma, which Hugging Face's tokenizers use."""

import unicodedata
from collections.abc import Collection, Iterable
from functools import cache
from typing import TypeAlias

Tree: TypeAlias = "dict[str, Tree]"

# The planes that have characters, but for private ones.
_CODES = [*range(0xD800), *range(0xE000, 0x40000), *range(0xE0000, 0xE1000)]


def escaped(text: str) -> str:
    """A regular expression of this text."""
    return "".join(f"\\x{{{ord(character):x}}}" for character in text)


def char_class(characters: Iterable[str], *, negated: bool = False) -> str:
    """A regular expression of any one of the characters, or of any other."""
    ranges: list[list[int]] = []
    for code in sorted({ord(character) for character in characters}):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    parts = (f"\\x{{{a:x}}}" if a == b else f"\\x{{{a:x}}}-\\x{{{b:x}}}" for a, b in ranges)
    return f"[{'^' if negated else ''}{''.join(parts)}]"


def any_of(texts: Collection[str]) -> str:
    """A regular expression of the longest of the texts; those that go on alike share branches."""
    tree: Tree = {}
    for text in texts:
        branch = tree
        for character in text:
            branch = branch.setdefault(character, {})
        branch[""] = {}
    return _branches(tree)


def _branches(tree: Tree) -> str:
    by_rest: dict[str, list[str]] = {}
    for character, branch in tree.items():
        if character:
            by_rest.setdefault(_branches(branch), []).append(character)
    if not by_rest:
        return ""
    branches = "|".join(char_class(characters) + rest for rest, characters in by_rest.items())
    return f"(?:{branches}){'?' if '' in tree else ''}"


@cache
def joining() -> frozenset[str]:
    """Characters that may be one grapheme or one character with those before them.

    That is every one that Unicode joins to what stands before it (UAX #29: marks, joiners, modifiers of
    emoji, jamo, regional indicators, a line feed), and every second one of a canonical decomposition.
    Characters that this Python does not know are among them, since another library may know them as marks.
    """
    found: set[str] = set()
    for code in _CODES:
        character = chr(code)
        category = unicodedata.category(character)
        if category[0] == "M" or category in ("Cn", "Cf"):
            found.add(character)
        decomposition = unicodedata.decomposition(character)
        if decomposition and not decomposition.startswith("<"):
            found.update(chr(int(part, 16)) for part in decomposition.split()[1:])
    hangul = (range(0x1100, 0x1200), range(0xA960, 0xA980), range(0xAC00, 0xD7A4), range(0xD7B0, 0xD7FC))
    others = (range(0x1F1E6, 0x1F200), range(0x1F3FB, 0x1F400), range(0xFF9E, 0xFFA0), (0x0A, 0x0E33, 0x0EB3))
    for codes in (*hangul, *others):
        found.update(map(chr, codes))
    return frozenset(found)


@cache
def marks() -> frozenset[str]:
    """Punctuation marks and symbols, as `units.spell` knows them."""
    return frozenset(chr(code) for code in _CODES if unicodedata.category(chr(code))[0] in "PS")


@cache
def spaces() -> frozenset[str]:
    """White space, as `str.split` knows it."""
    return frozenset(chr(code) for code in _CODES if chr(code).isspace())


@cache
def sigma_context() -> tuple[frozenset[str], frozenset[str]]:
    """Cased characters and such as do not count, in the rule by which `str.lower` writes a final sigma."""
    cased = {chr(code) for code in _CODES if (chr(code) + "Σ").lower()[-1] == "ς"}
    ignored = {chr(code) for code in _CODES if (f"A{chr(code)}Σ").lower()[-1] == "ς"} - cased
    return frozenset(cased), frozenset(ignored)
