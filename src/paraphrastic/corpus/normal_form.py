"""The form in which two sentences are the same, however they are written."""

import re
import unicodedata
from collections.abc import Sequence

# Scripts that are written without spaces, of which each character counts as a word: Thai, Lao, Burmese,
# Khmer, kana, Chinese characters.
_SPACELESS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0eff\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17e0-\u17e9"
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# The dot that lower-casing leaves on an i; Arabic's vowel signs and tatweel, which one text has, another not.
_IGNORED = re.compile("[\u0307\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]")
# Marks belong to the word around them, and Python's \w does not know them.
_MARKS = "".join(c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M")
_WORD = re.compile(rf"[{_SPACELESS}]|(?:(?![_{_SPACELESS}])[\w{_MARKS}])+")
# The same for ASCII, several times as fast: letters lower-cased, all but letters and digits a space.
_ASCII = bytes(ord(chr(b).lower()) if chr(b).isalnum() else 32 for b in range(128)) + bytes(128)


def words_of(text: str) -> list[str]:
    """The words of a text in its normal form: NFKC, case-folded, no punctuation, symbols and white space.

    A word is a run of letters, digits and marks; in scripts that are written without spaces, each character
    is one. Vowel signs of Arabic are dropped; Turkish's two i's are the same letter, since lower-casing by
    another language's rules takes one for the other, and so are Russian's е and ё, which is mostly printed
    as е. Two texts are the same when these words, put together, are: then neither hyphens nor a segmenter
    make a difference.
    """
    if text.isascii():
        return text.encode().translate(_ASCII).decode().split()
    text = unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(_IGNORED.sub("", text).replace("ı", "i").replace("ё", "е"))


def ngrams_of(words: Sequence[str], n: int) -> set[tuple[str, ...]]:
    """The distinct runs of n words; fewer words have none."""
    return set(zip(*[words[start:] for start in range(n)], strict=False))
