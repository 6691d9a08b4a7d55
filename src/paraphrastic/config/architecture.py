"""What an encoder is made of: its parts, how they are combined, and what the two languages share."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, Literal, Self, get_args

from paraphrastic.base.units import UNITS

Kind = Literal["average", "lstm", "bilstm"]
Pooling = Literal["mean", "max"]
Directions = Literal["average", "concatenate"]
Sharing = Literal["shared", "separate"]
# Overlapping ones have embeddings in common.
Tables = Literal["shared", "separate", "overlapping"]

_CHOICES = {
    "kind": get_args(Kind),
    "unit": UNITS,
    "pooling": get_args(Pooling),
    "directions": get_args(Directions),
}
# The papers' names of averages, alone and beside other parts.
_AVERAGES = {"subword": ("P-SP", "SP"), "word": ("WORD", "WORD"), "trigram": ("TRIGRAM", "TRIGRAM")}
# LSTMs are over words unless their name says otherwise.
_LSTMS = {"lstm": "LSTM", "bilstm": "BLSTM"}
_OVER = {"subword": "-SP", "word": "", "trigram": "-TRIGRAM"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One encoder of a sentence, with an embedding table of its own.

    Attributes:
        kind: the average of the embeddings, or the states of an LSTM over them, in one direction or both.
        unit: what the sentence is cut into; one of `units.UNITS`.
        dimension: of its vector; None is that of the embeddings.
        pooling: of an LSTM's states, over the sentence.
        directions: how a BiLSTM's two vectors become one.
    """

    kind: Kind = "average"
    unit: str = "subword"
    dimension: int | None = None
    pooling: Pooling = "mean"
    directions: Directions = "average"

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if (value := getattr(self, name)) not in allowed:
                raise ValueError(f"{value!r} is none of {', '.join(allowed)}")

    @property
    def recurrent(self) -> bool:
        """Whether it has an LSTM."""
        return self.kind != "average"

    @property
    def name(self) -> str:
        """As the papers write it, beside other parts."""
        if not self.recurrent:
            return _AVERAGES[self.unit][1]
        return _LSTMS[self.kind] + _OVER[self.unit] + (" max" if self.pooling == "max" else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """All parts of an encoder.

    Attributes:
        parts: at least one.
        combine: how the parts' vectors become one.
        scramble: share of the sentences whose tokens LSTMs are given in random order, in training.
        languages: whether the two languages have parameters of their own.
        vocabularies: whether they have vocabularies of their own, and with them tables; of overlapping ones,
            pieces that are spelled alike have one embedding.
    """

    parts: tuple[Part, ...] = (Part(),)
    combine: Literal["concatenate", "add"] = "concatenate"
    scramble: float = 0.0
    languages: Sharing = "shared"
    vocabularies: Tables = "shared"

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """What `to_json` gave.

        Raises:
            TypeError: a key that is not known.
            ValueError: a value that is none.
        """
        if not value["parts"]:
            raise ValueError("it has no parts")
        return cls(**{**value, "parts": tuple(Part(**part) for part in value["parts"])})

    def to_json(self) -> dict[str, Any]:
        """The attributes, as they are in a model's `config.json`."""
        return {**asdict(self), "parts": [asdict(part) for part in self.parts]}

    @property
    def units(self) -> tuple[str, ...]:
        """What sentences are cut into, each once, in the order of the parts."""
        return tuple(dict.fromkeys(part.unit for part in self.parts))

    @property
    def tables(self) -> Tables:
        """Whether the languages have tables of their own; overlapping ones share what is spelled alike."""
        return "separate" if self.languages == "separate" else self.vocabularies

    @property
    def separate(self) -> bool:
        """Whether a sentence's language is to be known."""
        return self.tables != "shared"

    @property
    def averaged(self) -> bool:
        """Whether it is one average."""
        return len(self.parts) == 1 and not self.parts[0].recurrent

    @property
    def name(self) -> str:
        """As the papers write it."""
        if self.averaged:
            names = _AVERAGES[self.parts[0].unit][0]
        else:
            names = "-".join(part.name for part in self.parts)
        notes = ["addition"] if len(self.parts) > 1 and self.combine == "add" else []
        if self.separate:
            notes.append("separate languages" if self.tables == "separate" else "overlapping vocabularies")
        return f"{names} ({', '.join(notes)})" if notes else names


def architecture_of(definition: Mapping[str, Any]) -> Architecture:
    """The encoder of a model, from its completed definition."""
    encoder, vocabulary = definition["encoder"], definition["vocabulary"]
    architecture = Architecture.from_json({**encoder, "vocabularies": vocabulary["languages"]})
    # What has no effect is no reason to train again.
    if not any(part.recurrent for part in architecture.parts):
        architecture = replace(architecture, scramble=0.0)
    return replace(architecture, combine="concatenate") if len(architecture.parts) == 1 else architecture


def encoder_name(config: Mapping[str, Any]) -> str:
    """Name of a model's encoder for the tables, from its `config.json`."""
    if "architecture" in config:
        name = Architecture.from_json(config["architecture"]).name
    else:
        name = _AVERAGES[config.get("unit", "subword")][0]
    untrained = config.get("training", {}).get("epochs") == 0
    return f"Random {name}" if untrained else name


def vocabularies(definition: Mapping[str, Any]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Unit and sides of each of a model's vocabularies, by name, in the order of units and languages.

    The first is `sentencepiece`; the others have unit and language in their names.
    """
    architecture = architecture_of(definition)
    sides: dict[str, tuple[str, ...]] = {"": ("source", "target")}
    if architecture.vocabularies != "shared":
        source, target = definition["languages"]
        sides = {f"-{source}": ("source",), f"-{target}": ("target",)}
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for unit, (suffix, of_unit) in product(architecture.units, sides.items()):
        found[f"sentencepiece-{unit}{suffix}" if found else "sentencepiece"] = (unit, of_unit)
    return found


def vocabulary_settings(definition: Mapping[str, Any], unit: str) -> dict[str, Any]:
    """Settings of a unit's vocabulary: the section's, overridden by what it says of this unit."""
    section = definition["vocabulary"]
    common = {key: value for key, value in section.items() if key not in ("units", "languages", "unit")}
    return {**common, **section["units"].get(unit, {})}
