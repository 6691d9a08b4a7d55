"""What a sentence is cut into: subwords, words or character trigrams.

sentencepiece numbers all of them. For words and trigrams its model is a list of those that stand in the
training text, and the text is spelled so that white space parts one from the next. Nothing here needs more
than the standard library, since models in use need it too.
"""

import unicodedata
from collections.abc import Iterable

UNITS = ("subword", "word", "trigram")

# In trigrams: the beginning and the end of a sentence, and a space. sentencepiece has a meaning for neither.
_BEGINNING, _END, _SPACE = "␂␃␠"


def spell(texts: Iterable[str], unit: str) -> list[str]:
    """Each text as sentencepiece is to see it, with white space between any two units.

    A `word` is what white space parts, and each punctuation mark or symbol at either end of it is a word of
    its own. A `trigram` is any three characters in a row, spaces between words and the beginning and the end
    of the sentence among them (Wieting et al. 2016, *Charagram*). Subwords are sentencepiece's own matter.
    """
    if unit == "word":
        return [" ".join(part for piece in text.split() for part in split_marks(piece)) for text in texts]
    if unit == "trigram":
        return list(map(_trigrams, texts))
    return list(texts)


def split_marks(piece: str) -> list[str]:
    """Text without white space, with the marks at either end of it apart: `(hello!)` is `( hello ! )`."""
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
    # As sentencepiece would normalise it, which would otherwise change the trigrams one by one.
    words = unicodedata.normalize("NFKC", text).split()
    if not words:
        return ""
    characters = f"{_BEGINNING}{_SPACE.join(words)}{_END}"
    return " ".join(characters[start : start + 3] for start in range(len(characters) - 2))
