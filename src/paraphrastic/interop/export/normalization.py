"""What a model and sentencepiece do to a text first, in the normalizers of Hugging Face's tokenizers.

The tokenizers have a normalizer `Precompiled` that reads sentencepiece's map of characters, but it looks up a
grapheme (UAX #29) and not the longest sequence that the map has, takes the shortest key that the grapheme
begins with, and forgets the rest. It is exact on a single character that is a grapheme. So a regular
expression first finds the sequences that sentencepiece finds, and puts a character that joins with nothing
between any others that might join; `Precompiled` maps the single characters; NFC composes what still stands
side by side, which is one of the sequences each time. The few sequences for which this gives another result
than the map are replaced one by one.
"""

import base64
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import fold
from paraphrastic.interop.export.characters import (
    any_of,
    char_class,
    escaped,
    marks,
    sigma_context,
    spaces,
)
from paraphrastic.interop.export.charsmap import read_charsmap
from paraphrastic.interop.sentencepiece_proto import ModelProto
from paraphrastic.model.unknown_pieces import UNKNOWN

Normalizer = dict[str, Any]

SPACE = "▁"
# Unassigned, and to be invisible if ever assigned; as such they are graphemes of their own.
_STAND_INS = range(0xE01F0, 0xE1000)


def replace(pattern: str, content: str) -> Normalizer:
    """A normalizer that puts `content` in the place of each match of a regular expression."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def replace_text(text: str, content: str) -> Normalizer:
    """A normalizer that puts `content` in the place of a text."""
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


class Normalization:
    """What sentencepiece does to a text before it cuts it: the map of characters, and white space.

    Attributes:
        steps: normalizers, in their order.
        boundary: a character that is in no text after them.
        spellings: runs of unknown characters that are looked up by their spelling.
        run: what stands before and behind each run of unknown characters, if there are `spellings`.
        cut: what stands before and behind a letter that is to be a piece of its own, and is no part of it.

    Args:
        model: the sentencepiece model, which has one of sentencepiece's own normalizations.
        characters: those of the vocabulary; None where any character counts.
        lowercase: whether the model is of lower-cased text.
    """

    def __init__(self, model: ModelProto, characters: Collection[str] | None, *, lowercase: bool) -> None:
        blob = model.normalizer_spec.precompiled_charsmap
        self._map = read_charsmap(blob)
        values = self._map.values
        taken = {*values, *"".join(values.values()), *"".join(piece.piece for piece in model.pieces)}
        self._free = (chr(code) for code in _STAND_INS if chr(code) not in taken)
        stranger = next(self._free)
        self._used: list[str] = []
        self.boundary, self._inner = self._stand_in(), self._stand_in()
        self.run, self.cut, self.spellings = "", "", set[str]()
        # The space that sentencepiece adds to a text; with all others, it becomes the sign for spaces.
        self.steps: list[Normalizer] = [{"type": "Prepend", "prepend": " "}]
        if values:
            self._map_characters(blob, characters)
        # Signs for spaces that the text itself has are stripped at the end, but not made one.
        self.steps += [replace(" +", SPACE), replace(f"(?<!{SPACE}){SPACE}*+\\z", "")]
        spellings = {piece.piece for piece in model.pieces if piece.type == piece.UNUSED}
        if UNKNOWN in spellings:
            known = {piece.piece for piece in model.pieces if piece.type == piece.NORMAL}
            self.spellings = {text for text in spellings if not lowercase or text == text.lower()}
            self._mark_runs({piece for piece in known if len(piece) == 1}, lowercase)
        # What stands for something in between is as unknown as any other such character before.
        self.steps.insert(0, replace(char_class(self._used), stranger))

    def _stand_in(self) -> str:
        self._used.append(next(self._free))
        return self._used[-1]

    def _map_characters(self, blob: bytes, characters: Collection[str] | None) -> None:
        """The map, exactly."""
        join = char_class(self._map.joins.difference(map(chr, _STAND_INS)))
        self.steps.append(replace(f"(?=\\O{join})(?>{self._map.pattern}|\\O)\\K", self.boundary))
        restored = self._replace_exceptions(characters)
        self.steps += [
            replace(f"(?<=[^{escaped(self.boundary)}])(?={join})", self._inner),
            {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(blob).decode()},
            replace_text(self._inner, ""),
            {"type": "NFC"},
            replace_text(self.boundary, ""),
            *restored,
        ]

    def _replace_exceptions(self, characters: Collection[str] | None) -> list[Normalizer]:
        """Put stand-ins in the place of sequences that are exceptions; return what makes them the results."""
        by_result: dict[str, list[str]] = {}
        for key in sorted(self._map.exceptions, key=len, reverse=True):
            value, reached = self._map.exceptions[key]
            if characters is None or not {*value, *reached}.isdisjoint(characters):
                by_result.setdefault(value, []).append(key)
        restored = []
        for result, keys in by_result.items():
            stand_in = self._stand_in()
            self.steps.append(replace(f"{any_of(keys)}{escaped(self.boundary)}", stand_in + self.boundary))
            restored.append(replace_text(stand_in, result))
        return restored

    def _mark_runs(self, known: Collection[str], lowercase: bool) -> None:
        """Mark both ends of runs of unknown characters, so that a spelling is that of a whole run."""
        self.run = self._stand_in()
        # White space parts runs.
        inside = char_class({*known, *spaces()}, negated=True)
        self.steps.append(replace(f"(?<!{inside})(?={inside})|(?<={inside})(?!{inside})", self.run))
        if lowercase:
            self.cut = self._stand_in()
            self._lowercase_runs(known)

    def _lowercase_runs(self, known: Collection[str]) -> None:
        """Lower-case unknown capitals, which the map makes even of lower-cased text, such as ℕ.

        One that is known in lower case is left in a longer run, such as that of ™, which would be cut.
        """
        spelled = {letter for spelling in self.spellings for letter in spelling}
        capitals = {
            letter for value in self._map.values.values() for letter in value if letter.lower() != letter
        }
        for capital in sorted(capitals.difference(known)):
            if (letter := capital.lower()) in known:
                alone = self.run + capital + self.run
                self.steps.append(replace_text(alone, self.cut + letter + self.cut))
            elif letter in spelled:
                self.steps.append(replace_text(capital, letter))


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
