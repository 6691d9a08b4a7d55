"""What a model does with a text before sentencepiece, in the normalizers of Hugging Face's tokenizers."""

import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import fold
from paraphrastic.interop.export.characters import char_class, marks, sigma_context, spaces

Normalizer = dict[str, Any]


def replace(pattern: str, content: str) -> Normalizer:
    """A normalizer that puts `content` in the place of each match of a regular expression."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def replace_text(text: str, content: str) -> Normalizer:
    """A normalizer that puts `content` in the place of a text."""
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


def preparation(config: Mapping[str, Any], characters: Collection[str] | None) -> list[Normalizer]:
    """All that `config.json` says of the text, but for segmentation, for which there is no normalizer.

    Args:
        config: has `folding`, `lowercase` and `unit`.
        characters: those of the vocabulary; None where any character counts.
    """
    found = _folding(config["folding"]) if config["folding"] else []
    if config["lowercase"]:
        if characters is None or not {"ς", "σ"}.isdisjoint(characters):
            cased, ignored = map(char_class, sigma_context())
            found.append(replace(f"{cased}{ignored}*+\\KΣ(?!{ignored}*+{cased})", "ς"))
        # Letters that are newer than either library's Unicode may differ; hardly a vocabulary has them.
        found.append({"type": "Lowercase"})
    if config.get("unit", "subword") == "word":
        mark, inside = char_class(marks()), char_class({" ", *marks()}, negated=True)
        found += [
            replace(f"{char_class(spaces())}+", " "),
            replace("\\A | \\z", ""),
            # Marks at the end of a word become a word of marks, all of which are then taken apart.
            replace(f"(?<={inside})(?={mark}++(?: |\\z))", " "),
            replace(f"(?:(?<= )|\\G){mark}\\K(?=[^ ])", " "),
        ]
    return found


def _folding(folding: Mapping[str, str]) -> list[Normalizer]:
    letters = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000]
    folded = dict(zip(letters, fold(letters, folding), strict=True))
    by_result: dict[str, set[str]] = {}
    for letter, result in folded.items():
        if result != unicodedata.normalize("NFC", letter):
            by_result.setdefault(result, set()).add(letter)
    if any(folded[letter] != letter for result in by_result for letter in result):
        raise InputError(f"folding {dict(folding)}: what becomes of a letter is folded again")
    found = [replace(char_class(same), result) for result, same in by_result.items()]
    return [{"type": "NFC"}, *found] if found else []
