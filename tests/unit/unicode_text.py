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
