"""A normal form that is equal for sentences which differ only in how they are written."""

import re
import unicodedata
from collections.abc import Sequence

# Scripts that are written without spaces, in which each character counts as a word: Thai, Lao, Burmese,
# Khmer, kana, Chinese characters.
_SPACELESS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0eff\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17e0-\u17e9"
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# The dot that lower-casing İ leaves on the i, and Arabic's vowel signs and tatweel, which are optional.
_IGNORED = re.compile("[\u0307\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]")
# Marks belong to the word around them, but Python's \w does not match them.
_MARKS = "".join(c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M")
_WORD = re.compile(rf"[{_SPACELESS}]|(?:(?![_{_SPACELESS}])[\w{_MARKS}])+")
# The same for ASCII, several times as fast: lower-case letters, and a space for all but letters and digits.
_ASCII = bytes(ord(chr(b).lower()) if chr(b).isalnum() else 32 for b in range(128)) + bytes(128)


def words_of(text: str) -> list[str]:
    """The words of a text in normal form: NFKC, case-folded, without punctuation, symbols and white space.

    A word is a run of letters, digits and marks; in scripts that are written without spaces, each character
    is a word. Arabic vowel signs are dropped. The two i's of Turkish count as one letter, since lower-casing
    by another language's rules confuses them, and so do Russian е and ё, because ё is mostly printed as е.
    Two texts are the same if their joined words are equal, so hyphens and segmenters make no difference.
    """
    if text.isascii():
        return text.encode().translate(_ASCII).decode().split()
    text = unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(_IGNORED.sub("", text).replace("ı", "i").replace("ё", "е"))


def ngrams_of(words: Sequence[str], n: int) -> set[tuple[str, ...]]:
    """The distinct runs of n words; none if there are fewer words."""
    return set(zip(*[words[start:] for start in range(n)], strict=False))
