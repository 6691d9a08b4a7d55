"""What a model and sentencepiece do to a text before cutting it, as normalizers of Hugging Face's tokenizers.

The tokenizers' normalizer `Precompiled` reads sentencepiece's map of characters, but uses it differently. It
looks up graphemes (UAX #29) instead of the longest sequences in the map, takes the shortest key that begins
a grapheme, and forgets the rest. It is exact only if a grapheme is a single character. So a regular
expression first finds the sequences that sentencepiece finds, and a character that joins with nothing is put
between any others that might join. Then `Precompiled` maps single characters, and NFC composes those that
still stand side by side, which always belong to one sequence.

The regular expressions are Oniguruma's, which the tokenizers use.
"""

import base64
import struct
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, TypeAlias

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import folding_table
from paraphrastic.interop.model_proto import ModelProto
from paraphrastic.interop.text_patterns import CHARACTERS, TOKENIZERS, any_of, cleaning, final_sigma
from paraphrastic.model.vocabulary import SPACE, UNKNOWN

Normalizer = dict[str, Any]
Tree: TypeAlias = "dict[str, Tree]"

# Each of these is a grapheme of its own. They are invisible, so `preparation` leaves no text that has one.
_STAND_INS = frozenset(map(chr, range(0xE01F0, 0xE1000)))
# Bounds of a map of characters: the bytes of all keys and values with those of the units that are met, and
# the bytes of one key. The largest map of sentencepiece has 3.7 MB and keys of 12 bytes.
_MOST_BYTES, _UNIT_BYTES, _LONGEST_KEY = 1 << 23, 4, 48
# Those of sentencepiece's own maps have 18,000 characters.
_LONGEST_EXPRESSION = 1 << 18
# Besides marks, Unicode joins these to the character before (UAX #29): jamo, regional indicators, modifiers
# of emoji, and a few letters and signs.
_JOINING = (
    *range(0x1100, 0x1200), *range(0xA960, 0xA980), *range(0xAC00, 0xD7A4), *range(0xD7B0, 0xD7FC),
    *range(0x1F1E6, 0x1F200), *range(0x1F3FB, 0x1F400), 0xFF9E, 0xFF9F, 0x0A, 0x0E33, 0x0EB3,
)  # fmt: skip


class Normalization:
    """What sentencepiece does to characters and white space before it cuts a text.

    Attributes:
        steps: normalizers, in order.
        boundary: a character that no text has after these steps.
        unknown_pieces: runs of unknown characters that are looked up by their spelling.
        run: a character that marks both ends of each run of unknown characters, if any has a piece.
        cut: a character that marks both ends of a letter that is to be a piece, and is not part of the piece.

    Args:
        model: the sentencepiece model, which has one of sentencepiece's own normalizations.
        lowercase: whether the model's text is lower-cased.
    """

    def __init__(self, model: ModelProto, *, lowercase: bool) -> None:
        charsmap = model.normalizer_spec.precompiled_charsmap
        self._map = read_charsmap(charsmap)
        pieces = "".join(piece.piece for piece in model.pieces)
        self._free = iter(sorted(_STAND_INS.difference(self._map, *self._map.values(), pieces)))
        self.boundary, inner = next(self._free), next(self._free)
        self.run, self.cut, self.unknown_pieces = "", "", set[str]()
        # sentencepiece adds this space to a text; like all others, it becomes the sign for spaces.
        self.steps: list[Normalizer] = [{"type": "Prepend", "prepend": " "}]
        if self._map:
            sequence, join = _sequences(charsmap)
            self.steps += [
                replace(f"(?=\\O{join})(?>{sequence}|\\O)\\K", self.boundary),
                replace(f"(?<={any_of(self.boundary, negated=True)})(?={join})", inner),
                {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()},
                replace_text(inner, ""),
                {"type": "NFC"},
                replace_text(self.boundary, ""),
            ]
        # Signs for spaces in the text itself are stripped at its end, but not merged.
        self.steps += [replace(" +", SPACE), replace(f"(?<!{SPACE}){SPACE}*+\\z", "")]
        unused = {piece.piece for piece in model.pieces if piece.type == piece.UNUSED}
        if UNKNOWN in unused:
            known = {piece.piece for piece in model.pieces if piece.type == piece.NORMAL}
            self.unknown_pieces = {text for text in unused if not lowercase or text == text.lower()}
            self._mark_runs({piece for piece in known if len(piece) == 1}, lowercase)

    def _mark_runs(self, known: Collection[str], lowercase: bool) -> None:
        """Mark both ends of runs of unknown characters, so that a spelling matches only a whole run."""
        self.run = next(self._free)
        # White space separates runs.
        inside = any_of({*known, *_spaces()}, negated=True)
        self.steps.append(replace(f"(?<!{inside})(?={inside})|(?<={inside})(?!{inside})", self.run))
        if lowercase:
            self.cut = next(self._free)
            self._lowercase_runs(known)

    def _lowercase_runs(self, known: Collection[str]) -> None:
        """Lower-case unknown capitals, which the map makes even from lower-cased text, such as N from ℕ.

        If the lower-case letter is known, the capital stays in a longer run, such as that of ™: a known
        letter would cut the run.
        """
        spelled = {letter for spelling in self.unknown_pieces for letter in spelling}
        capitals = {letter for value in self._map.values() for letter in value if letter.lower() != letter}
        for capital in sorted(capitals.difference(known)):
            if (letter := capital.lower()) in known:
                alone = self.run + capital + self.run
                self.steps.append(replace_text(alone, self.cut + letter + self.cut))
            elif letter in spelled:
                self.steps.append(replace_text(capital, letter))


def preparation(config: Mapping[str, Any]) -> list[Normalizer]:
    """Normalizers that do what `prepare_text` does, except segmentation, for which there is none."""
    steps = [replace(pattern, other) for pattern, other in cleaning(TOKENIZERS)]
    if table := folding_table(config["folding"]):
        steps.append({"type": "NFC"})
        for result in dict.fromkeys(table.values()):
            letters = [chr(code) for code, other in table.items() if other == result]
            steps.append(replace(any_of(letters), result or ""))
    if config["lowercase"]:
        # Even if no piece has a sigma, its bytes may have pieces.
        steps.append(replace(final_sigma(), "ς"))
        # Letters that are newer than one library's Unicode may differ; hardly any text has them.
        steps.append({"type": "Lowercase"})
    if config.get("unit", "subword") == "word":
        # Punctuation marks and symbols, as `units.spell` defines them.
        marks = [character for character in CHARACTERS if unicodedata.category(character)[0] in "PS"]
        mark, inside = any_of(marks), any_of({" ", *marks}, negated=True)
        steps += [
            replace(f"{any_of(_spaces())}+", " "),
            replace("\\A | \\z", ""),
            # Marks at the end of a word become a word of marks, which is then split into single marks.
            replace(f"(?<={inside})(?={mark}++(?: |\\z))", " "),
            replace(f"(?:(?<= )|\\G){mark}\\K(?=[^ ])", " "),
        ]
    return steps


def replace(pattern: str, content: str) -> Normalizer:
    """A normalizer that replaces each match of a regular expression with `content`."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def replace_text(text: str, content: str) -> Normalizer:
    """A normalizer that replaces a text with `content`."""
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


@lru_cache(maxsize=2)  # Nearly all models have the same map or none, and reading it takes a second.
def read_charsmap(blob: bytes) -> dict[str, str]:
    """Read what characters and sequences of them become; at each place of a text, the longest key counts.

    Args:
        blob: `NormalizerSpec.precompiled_charsmap`: the size of a trie, the trie, and the values of its keys,
            each ended by a zero byte. The trie is a double array of the library Darts-clone.

    Raises:
        InputError: the map is damaged.
    """
    try:
        return {key.decode(): value.decode() for key, value in _entries(blob)}
    except (ValueError, IndexError, struct.error) as error:
        raise InputError(f"its sentencepiece model's map of characters is damaged: {error}") from None


def _entries(blob: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not blob:
        return
    (size,) = struct.unpack_from("<I", blob)
    units = np.frombuffer(blob, "<u4", size // 4, offset=4).astype(np.int64)
    values = blob[4 + size :]
    # A unit says which label leads to it, where its children are, and whether a key ends in it.
    labels = (units & 0x800000FF).tolist()
    children = (np.arange(len(units)) ^ ((units >> 10) << ((units & 0x200) >> 6))).tolist()
    ends = ((units & 0x100) != 0).tolist()
    by_parent: dict[int, list[int]] = {}
    for unit, label in enumerate(labels):
        if 0 < label < 256:
            by_parent.setdefault(unit ^ label, []).append(unit)

    left = _MOST_BYTES
    # A list of what is left to visit is faster than generators that call themselves.
    waiting = [(b"", unit) for unit in reversed(by_parent.get(children[0], ()))]
    while waiting:
        before, unit = waiting.pop()
        key, child = before + bytes((labels[unit],)), children[unit]
        left -= _UNIT_BYTES
        if ends[unit]:
            start = int(units[child]) & 0x7FFFFFFF
            end = values.index(b"\0", start)
            left -= len(key) + end - start
            yield key, values[start:end]
        # Keys with the same ending share units, so a few units can hold any number of keys.
        if left < 0 or len(key) > _LONGEST_KEY:
            raise ValueError("it is endless, or much larger than sentencepiece's own maps")
        waiting += [(key, unit) for unit in reversed(by_parent.get(child, ()))]


@lru_cache(maxsize=2)
def _sequences(blob: bytes) -> tuple[str, str]:
    """Expressions for a map's longest sequence, and for a character that may join the one before.

    A character may join by Unicode or by the map. Characters that this Python does not know are included,
    since another library may know them as marks.
    """
    charsmap = read_charsmap(blob)
    sequences = [key for key in charsmap if len(key) > 1]
    joins = {chr(code) for code in _JOINING} | {character for key in sequences for character in key[1:]}
    for character in CHARACTERS:
        # Canonical decompositions have nothing but marks after their first character.
        category = unicodedata.category(character)
        if category[0] == "M" or category in ("Cn", "Cf"):
            joins.add(character)
    joins |= {key for key, value in charsmap.items() if len(key) == 1 and value[:1] in joins}
    tree: Tree = {}
    for text in sequences:
        branch = tree
        for character in text:
            branch = branch.setdefault(character, {})
        branch[""] = {}
    expressions = _branches(tree), any_of(joins - _STAND_INS)
    if max(map(len, expressions)) > _LONGEST_EXPRESSION:
        raise InputError("its sentencepiece model's map of characters is too large for a regular expression")
    return expressions


def _branches(tree: Tree) -> str:
    """An expression for the longest text of a tree; equal continuations share a branch."""
    by_rest: dict[str, list[str]] = {}
    for character, branch in tree.items():
        if character:
            by_rest.setdefault(_branches(branch), []).append(character)
    if not by_rest:
        return ""
    branches = "|".join(any_of(characters) + rest for rest, characters in by_rest.items())
    return f"(?:{branches}){'?' if '' in tree else ''}"


@cache
def _spaces() -> frozenset[str]:
    """White space, as `str.split` defines it."""
    return frozenset(filter(str.isspace, CHARACTERS))
