"""Scripts that are written without spaces, in which each character counts as a word."""

import regex

# Letters of these scripts, with the signs of repetition and length that those of Japanese share. Digits make
# words as in other scripts, and punctuation separates them.
_LETTERS = regex.compile(
    r"(?V1)[[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tai_Tham}\p{Tai_Le}\p{New_Tai_Lue}\p{Tai_Viet}\p{Balinese}"
    r"\p{Javanese}\p{Yi}\p{Tangut}\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]&&[\p{L}\p{Nl}]--[\uff9e\uff9f]]+"
)
# All letters beyond these planes are Han.
_PLANES = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x20000)]))


def _ranges(pattern: "regex.Pattern[str]") -> str:
    return "".join(f"{run[0][0]}-{run[0][-1]}" for run in pattern.finditer(_PLANES))


# For the inside of a character class of `re`, which is faster than `regex`: these letters; marks, which
# belong to the character before them, as do the marks of half-width kana; and the dots between syllables of
# Tibetan, each of which counts as a word, and between words of Ethiopic.
SPACELESS = _ranges(_LETTERS) + "\U00020000-\U0003fffd"
MARKS = _ranges(regex.compile(r"\p{M}+")) + "\uff9e\uff9f"
DOTS = "\u0f0b\u0f0c\u1361"
