"""Text that two tokenizers hardly cut in the same way."""

import random
import unicodedata
from collections.abc import Iterator, Sequence

_MARKS = [chr(code) for code in range(0x3100) if unicodedata.category(chr(code))[0] == "M"]
_SPECIAL = [
    *" \u00a0\u3000\u2009▁\t\n\r\u200b\u200c\u200d\ufeff\u2028\x00\x01\x07\x1b\x7f\x85\u00ad\ufffd\ufffe",
    "  ", "\r\n", "▁▁", "👩‍👩‍👧",
    "👍🏽", "🇵🇱🇩🇪", "❤️", "\u0600", "\u070f",
    "ﷺ", "ﬁ", "½", "™", "℃", "㎏", "①",
    "İ", "ΑΣ", "ΣΑΣ Σ", "ẞ", "ŉ", "ﾊﾟ", "ㄱㅏ", "각", "\u1112\u1161\u11ab", "e\u0301", "a\u0302\u0323",
    "𝗮\u0302", "ᾳ", "α\u0345", "\u0958", "Å", "<s>", "</s>", "<unk>", "<0x41>", "<sep>", "[MASK]",
]  # fmt: skip

# Text with characters that nobody sees, control characters, and letters whose lower case is special.
ODD = [
    "soft\u00adhyphen", "zero\u200bwidth", "a\u200d\u200cb", "\ufeffmarks\ufeff of order",
    "con\x01trol\x1bs \x7f\x85x\x9f", "\u202eright\u202c left\u200e\u200f \u2066apart\u2069",
    "👨\u200d👩\u200d👧\u200d👦 👍🏽 ❤\ufe0f 1\ufe0f\u20e3",
    "a flag 🏴\U000e0067\U000e0062\U000e007f", "\U000e01f0x\U000e0fff \u034f\u061c\u180e",
    "\u3164\u115f\u1160filled\uffa0", "e\u00ad\u0301 a\u200d\u0308", "人人生而自由\ufe00",
    "ا\u0640\u200c\u064bب", "ΟΔΟΣ", "ΣΟΦΟΣ ΣΙΣΥΦΟΣ, ΠΟΛΙΣ!", "Σ ΣΣ ΣΣΣ ΑΣ. ΑΣ:Β ΑΣ·Β ΑΣ’ ΑΣ’Β ΑΣ'Α",
    "Α\u0301Σ ΑΣ\u0301 ΑΣ\u0301Β aʰΣ ʰΣ \u0345Σ a\u0345Σ", "ΟΔΟ\u00adΣ\u200d ΟΔΟΣ\u00adΟΣ",
    "İSTANBUL IĞDIR ıssız", "１２３ ＡＢＣ", "ẞ ǅ ǈ Ა Ꭰ 𐐀 ϴ ᾼ ῼ", "\u212a \u212b \u2126 ℕ",
    "a\u2028b\u2029c\u00a0d\u3000e",
]  # fmt: skip


def texts(n: int, sentences: Sequence[str], *, seed: int = 0) -> Iterator[str]:
    """Yield words in random order, joined, doubled or capitalised, with any Unicode characters in between."""
    generator = random.Random(seed)
    words = [word for sentence in sentences for word in sentence.split()]

    def part() -> str:
        kind = generator.randrange(12)
        word = generator.choice(words)
        if kind < 4:
            return word
        if kind == 4:
            return word.upper()
        if kind == 5:
            return word * generator.randrange(2, 5)
        if kind == 6:
            return "".join(letter + generator.choice(["", "", generator.choice(_MARKS)]) for letter in word)
        if kind == 7:
            return unicodedata.normalize("NFD", word)
        if kind == 8:
            return chr(generator.randrange(0x3000))
        if kind == 9:
            code = generator.randrange(0x20000)
            return chr(code) if not 0xD800 <= code < 0xE000 else "x"
        return generator.choice(_SPECIAL)

    for _ in range(n):
        yield generator.choice([" ", " ", "", "  "]).join(part() for _ in range(generator.randrange(1, 12)))
