"""Forms of texts that corpora are compared in, besides what `paraphrastic.base.text` prepares for models."""

import unicodedata
from collections.abc import Sequence


def composed(texts: Sequence[str]) -> list[str]:
    """Join every letter and its mark into one character, where Unicode has one (NFC)."""
    return [text if text.isascii() else unicodedata.normalize("NFC", text) for text in texts]


def as_read(texts: Sequence[str]) -> list[str]:
    """Prepared texts as sentencepiece reads them: NFKC, with single spaces between words.

    The dot between words of Ethiopic becomes a space, too, since language identifiers know words by spaces.
    """
    return [
        " ".join(
            (text if text.isascii() else unicodedata.normalize("NFKC", text).replace("\u1361", " ")).split()
        )
        for text in texts
    ]


def collapse_spaces(texts: Sequence[str]) -> list[str]:
    """Leave one space between tokens and none at the ends."""
    return [" ".join(text.split()) for text in texts]
