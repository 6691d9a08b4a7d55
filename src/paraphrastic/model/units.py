"""The units that a sentence is cut into: subwords, words or character trigrams.

sentencepiece numbers all of them. For words and trigrams, its model is a list of those that occur in the
training text, and the text is spelled with white space between them. Only the standard library is imported,
since models in use need this module too.
"""

import unicodedata
from collections.abc import Iterable

UNITS = ("subword", "word", "trigram")

# Invisible characters, sentencepiece's own mark and the replacement character, which sentencepiece turns into
# spaces.
_AS_SPACES = dict.fromkeys([0x61C, 0x200B, 0x200C, 0x200E, 0x200F, 0x2581, 0xFEFF, 0xFFFD], " ")
# A space in trigrams, which is not special to sentencepiece.
_SPACE = "␠"


def spell(texts: Iterable[str], unit: str) -> list[str]:
    """Spell each text for sentencepiece, with white space between any two units.

    A `word` is a run of characters between white space; each punctuation mark or symbol at either end is a
    word of its own. A `trigram` is any three characters in a row of a sentence that has one space between any
    two words and at both ends, so a sentence begins and ends as a word does (Wieting et al. 2016,
    *Charagram*, and the code of the papers). sentencepiece itself cuts subwords.
    """
    if unit == "word":
        return [" ".join(part for piece in text.split() for part in split_marks(piece)) for text in texts]
    if unit == "trigram":
        return list(map(_trigrams, texts))
    return list(texts)


def split_marks(piece: str) -> list[str]:
    """Split the marks at either end off a text without white space: `(hello!)` becomes `( hello ! )`."""
    if piece.isalnum():
        return [piece]
    start, end = 0, len(piece)
    while start < end and _is_mark(piece[start]):
        start += 1
    while end > start and _is_mark(piece[end - 1]):
        end -= 1
    return [*piece[:start], *([piece[start:end]] if start < end else []), *piece[end:]]


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _trigrams(text: str) -> str:
    # Normalise as sentencepiece does, since it would otherwise change each trigram on its own.
    words = unicodedata.normalize("NFKC", text).translate(_AS_SPACES).split()
    if not words:
        return ""
    characters = _SPACE.join(["", *words, ""])
    return " ".join(characters[start : start + 3] for start in range(len(characters) - 2))
