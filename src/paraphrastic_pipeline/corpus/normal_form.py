"""A normal form that is equal for sentences which differ only in how they are written."""

import re
import unicodedata
from collections.abc import Sequence

from paraphrastic.base.text import INVISIBLE
from paraphrastic_pipeline.corpus.spaceless import MARKS, SPACELESS

# The dot that lower-casing İ leaves on the i, Arabic's vowel signs and tatweel, which are optional, and what
# nobody sees.
_INVISIBLE = "".join(f"{chr(first)}-{chr(last)}" for first, last in INVISIBLE)
_IGNORED = re.compile(f"[\u0307\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed{_INVISIBLE}]")
# Letters that are written alike in one text and differ in another.
_ALIKE = str.maketrans("ıёٱ", "iеا")
# A character of a script without spaces, or a run of other letters, digits and marks. Marks belong to the
# character before them, but Python's \w does not match them.
_WORD = re.compile(rf"[{SPACELESS}][{MARKS}]*|(?:(?![_{SPACELESS}])[\w{MARKS}])+")
# The same for ASCII, several times as fast: lower-case letters, and a space for all but letters and digits.
_ASCII = bytes(ord(chr(b).lower()) if chr(b).isalnum() else 32 for b in range(128)) + bytes(128)


def words_of(text: str) -> list[str]:
    """The words of a text in normal form: NFKC, case-folded, without punctuation, symbols and white space.

    A word is a run of letters, digits and marks; in scripts that are written without spaces, each character
    is a word, with the marks that follow it. Arabic vowel signs and characters that nobody sees are dropped.
    The two i's of Turkish count as one letter, since lower-casing by another language's rules confuses them,
    and so do Russian е and ё, because ё is mostly printed as е, and the Quranic alef wasla and alef. Two
    texts are the same if their joined words are equal, so hyphens and segmenters make no difference.
    """
    if text.isascii():
        return text.encode().translate(_ASCII).decode().split()
    text = unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(_IGNORED.sub("", text).translate(_ALIKE))


def ngrams_of(words: Sequence[str], n: int) -> set[tuple[str, ...]]:
    """The distinct runs of n words; none if there are fewer words."""
    return set(zip(*[words[start:] for start in range(n)], strict=False))
