"""Sentencepiece's normalization of text, in the normalizers of Hugging Face's tokenizers.

The tokenizers have a normalizer `Precompiled` that reads sentencepiece's map of characters, but it looks up a
grapheme (UAX #29) and not the longest sequence that the map has, takes the shortest key that the grapheme
begins with, and forgets the rest. It is exact on a single character that is a grapheme. So a regular
expression first finds the sequences that sentencepiece finds, and puts a character that joins with nothing
between any others that might join; `Precompiled` maps the single characters; NFC composes what still stands
side by side, which is one of the sequences each time. That this makes of a sequence what the map says is
checked for each; those of which it does not are replaced one by one, as are user-defined symbols that the
steps would change.
"""

import base64
from collections.abc import Collection, Mapping

from paraphrastic.base.errors import InputError
from paraphrastic.interop.export.characters import PREPENDED, any_of, char_class, escaped, spaces
from paraphrastic.interop.export.charsmap import read_charsmap
from paraphrastic.interop.export.preparation import Normalizer, replace, replace_text
from paraphrastic.model.sentencepiece_proto import ModelProto, ModelType, PieceType
from paraphrastic.model.unknown_pieces import UNKNOWN

SPACE = "▁"
# Each costs time with every text.
_MOST_REPLACED = 200
# Unassigned, and to be invisible if ever assigned; as such they are graphemes of their own.
_STAND_INS = range(0xE01F0, 0xE1000)


def is_by_spelling(model: ModelProto) -> bool:
    """Whether the model's unknown pieces are looked up by their spelling; see `spellings`."""
    return any(piece.piece == UNKNOWN and piece.type is PieceType.UNUSED for piece in model.pieces)


class Normalization:
    """What sentencepiece does to a text before it cuts it: the map of characters, and white space.

    Attributes:
        steps: normalizers, in their order.
        boundary: a character that is in no text after them.
        symbols: user-defined symbols of a BPE model, and what stands for each after them.
        run: what stands before and behind each run of unknown characters, if `spellings` tells them apart.
        cut: what stands before and behind a letter that is to be a piece of its own, and is no part of it.
        spellings: of runs that a text can have.

    Args:
        model: the sentencepiece model.
        characters: those of the vocabulary; None where any character counts.
        lowercase: whether the model is of lower-cased text.

    Raises:
        InputError: the model's normalization cannot be expressed.
    """

    def __init__(self, model: ModelProto, characters: Collection[str] | None, *, lowercase: bool) -> None:
        self._spec = model.normalizer
        if not self._spec.escape_whitespaces:
            raise InputError("its sentencepiece model leaves spaces as they are (escape_whitespaces is off)")
        self._map = read_charsmap(self._spec.precompiled_charsmap)
        self._suffix = self._spec.add_dummy_prefix and model.trainer.treat_whitespace_as_suffix
        symbols = [model.pieces[number].piece for number in model.ids(PieceType.USER_DEFINED)]
        values = self._map.values
        taken = {*values, *"".join(values.values()), *"".join(piece.piece for piece in model.pieces)}
        self._free = (chr(code) for code in _STAND_INS if chr(code) not in taken)
        stranger = next(self._free)
        self._used: list[str] = []
        self.boundary, self._inner, self._ending = (self._stand_in() for _ in range(3))
        self.steps: list[Normalizer] = []
        self.symbols: dict[str, str] = {}
        self.run, self.cut, self.spellings = "", "", set[str]()
        self._begin()
        if values:
            self._map_characters(symbols, characters)
        self._end()
        if model.trainer.model_type is ModelType.BPE:
            self._hide(symbols)
        if is_by_spelling(model):
            self._mark_runs(model, lowercase)
        # What stands for something in between is as unknown as any other such character before.
        self.steps.insert(0, replace(char_class(self._used), stranger))

    def _stand_in(self) -> str:
        self._used.append(next(self._free))
        return self._used[-1]

    def _begin(self) -> None:
        """Mark the place of the space that sentencepiece adds to a text, unless all of it is stripped."""
        if self._suffix:
            if self._spec.remove_extra_whitespaces:
                blank = {" ", *(key for key, value in self._map.values.items() if value == " ")}
                self.steps.append(replace(f"\\A{any_of(blank)}++\\z", ""))
            self.steps.append(replace("(?<=\\O)\\z", self._ending))
        elif self._spec.add_dummy_prefix:
            self.steps.append({"type": "Prepend", "prepend": " "})

    def _end(self) -> None:
        """White space as sentencepiece writes it, the space that was added with it."""
        if self._spec.remove_extra_whitespaces:
            if any("  " in value for value in self._map.values.values()):
                raise InputError("its sentencepiece model's map of characters makes two spaces in a row")
            if self._suffix or not self._spec.add_dummy_prefix:
                self.steps.append(replace("\\A +", ""))
            self.steps.append(replace(" +", SPACE))
            # Signs for spaces that the text itself has are stripped at the end, but not made one.
            end, content = (self._ending, SPACE) if self._suffix else ("\\z", "")
            self.steps.append(replace(f"(?<!{SPACE}){SPACE}*+{end}", content))
        else:
            self.steps.append(replace_text(" ", SPACE))
            if self._suffix:
                self.steps.append(replace_text(self._ending, SPACE))

    def _map_characters(self, symbols: Collection[str], characters: Collection[str] | None) -> None:
        """The map, exactly; within user-defined symbols sentencepiece maps nothing."""
        replaced = {
            key: value
            for key, (value, reached) in self._map.exceptions.items()
            if characters is None or not {*value, *reached}.isdisjoint(characters)
        }
        changed = self._map.joins | self._map.values.keys() | {" "}
        replaced |= {symbol: symbol for symbol in symbols if not changed.isdisjoint(symbol)}

        join = char_class(self._map.joins.difference(map(chr, _STAND_INS)))
        near = f"\\O{join}"
        if before := PREPENDED & {key[0] for key in self._map.values}:
            near += f"|{char_class(before)}\\O"
        single = "\\O"
        found = f"(?={near})" + (f"(?>{self._map.pattern}|{single})" if self._map.sequences else single)
        if symbols:
            found = f"(?>{any_of(symbols)}|{found})"
        self.steps.append(replace(f"{found}\\K", self.boundary))
        after = self._replace(replaced, [*self._map.sequences, *symbols])
        if self._map.sequences:
            self.steps.append(replace(f"(?<=[^{escaped(self.boundary)}])(?={join})", self._inner))
            compose: list[Normalizer] = [{"type": "NFC"}] if self._map.composes else []
            after = [replace_text(self._inner, ""), *compose, replace_text(self.boundary, ""), *after]
        else:
            after.insert(0, replace_text(self.boundary, ""))
        blob = base64.b64encode(self._spec.precompiled_charsmap).decode()
        self.steps += [{"type": "Precompiled", "precompiled_charsmap": blob}, *after]

    def _replace(self, replaced: Mapping[str, str], found: Collection[str]) -> list[Normalizer]:
        """Put stand-ins in the place of sequences that were found; return what makes them the results."""
        results = dict.fromkeys(replaced[key] for key in sorted(replaced, key=len, reverse=True))
        if len(results) > _MOST_REPLACED:
            raise InputError(
                f"its sentencepiece model maps sequences of characters to {len(results):,} results that are "
                f"not compositions; more than {_MOST_REPLACED} cannot be expressed"
            )
        order = {result: place for place, result in enumerate(results)}
        for longer in found if replaced else ():
            for end in (longer[place:] for place in range(1, len(longer))):
                # It would be taken for its own end.
                if end in replaced and order.get(replaced.get(longer, ""), len(order)) > order[replaced[end]]:
                    raise InputError(
                        f"its sentencepiece model maps {longer!r} and its end by different rules, "
                        "which cannot be expressed"
                    )
        restored = []
        for result in results:
            same = {key for key, value in replaced.items() if value == result}
            stand_in = self._stand_in()
            self.steps.append(replace(f"{any_of(same)}{escaped(self.boundary)}", stand_in + self.boundary))
            restored.append(replace_text(stand_in, result))
        return restored

    def _hide(self, symbols: Collection[str]) -> None:
        """Make user-defined symbols single characters, of which nothing is merged."""
        for symbol in sorted(symbols, key=len, reverse=True):
            for other in symbols:
                if any(symbol[place:] == other[: len(symbol) - place] for place in range(1, len(symbol))):
                    raise InputError(f"its user-defined symbols {symbol!r} and {other!r} can overlap")
            self.symbols[symbol] = self._stand_in()
            self.steps.append(replace_text(symbol, self.symbols[symbol]))

    def _mark_runs(self, model: ModelProto, lowercase: bool) -> None:
        """Mark both ends of runs of unknown characters, so that a spelling is that of a whole run."""
        pieces = [piece.piece for piece in model.pieces if piece.type is PieceType.NORMAL]
        known = {piece for piece in pieces if len(piece) == 1}
        if model.trainer.model_type is not ModelType.UNIGRAM or not known.issuperset("".join(pieces)):
            raise InputError(
                "it looks unknown characters up by their spelling, in a model that is not unigram"
            )
        spellings = [model.pieces[number].piece for number in model.ids(PieceType.UNUSED)]
        self.run = self._stand_in()
        self.spellings = {text for text in spellings if not lowercase or text == text.lower()}
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
