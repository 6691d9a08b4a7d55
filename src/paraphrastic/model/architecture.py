"""The architecture of an encoder: its parts, their combination, and what the two languages share."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

Unit = Literal["subword", "word", "trigram"]
PartKind = Literal["average", "lstm", "bilstm"]
Pooling = Literal["mean", "max"]
Directions = Literal["average", "concatenate"]
Sharing = Literal["shared", "separate"]
TransformerPooling = Literal["mean", "cls", "lstm_last"]
# Overlapping tables share the embeddings of pieces that are spelled alike.
Tables = Literal["shared", "separate", "overlapping"]

# The papers' names of averages, first as the only part and then beside other parts.
_AVERAGES = {"subword": ("P-SP", "SP"), "word": ("WORD", "WORD"), "trigram": ("TRIGRAM", "TRIGRAM")}
_POOLINGS = {"mean": "mean", "cls": "first token", "lstm_last": "LSTM"}
# The unit of Transformers, whose own tokenizers cut sentences.
TOKENS = "tokens"
# An LSTM reads words unless its name says otherwise.
_LSTMS = {"lstm": "LSTM", "bilstm": "BLSTM"}
_OVER = {"subword": "-SP", "word": "", "trigram": "-TRIGRAM"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One encoder of a sentence, with its own embedding table.

    Attributes:
        kind: `average` of the embeddings, or an LSTM over them in one direction (`lstm`) or both (`bilstm`).
        unit: unit that the sentence is cut into; one of `units.UNITS`.
        dimension: dimension of its vector; None stands for the dimension of the embeddings.
        pooling: how an LSTM's states are pooled over the sentence.
        directions: how a BiLSTM's two vectors are combined.
        peepholes: whether the gates of an LSTM also see its cell.
        init_std: standard deviation of the initial embeddings; None stands for that of the training.
    """

    kind: PartKind = "average"
    unit: Unit = "subword"
    dimension: int | None = None
    pooling: Pooling = "mean"
    directions: Directions = "average"
    peepholes: bool = False
    init_std: float | None = None

    @property
    def recurrent(self) -> bool:
        """Whether the part has an LSTM."""
        return self.kind != "average"

    @property
    def name(self) -> str:
        """The papers' name for the part, beside other parts."""
        if not self.recurrent:
            return _AVERAGES[self.unit][1]
        return _LSTMS[self.kind] + _OVER[self.unit] + (" max" if self.pooling == "max" else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformer:
    """A Transformer with a pooling of its last layer (Dadas 2022, section III).

    Attributes:
        place: a folder, or a name on the Hugging Face Hub.
        pooling: `mean` over the tokens, the vector of the first token (`cls`), or the last state of an LSTM
            that reads the tokens from left to right (`lstm_last`).
        lstm_size: dimension of the LSTM's state.
        max_tokens: tokens after which sentences are cut off; None for as many as the Transformer can read.
    """

    place: str
    pooling: TransformerPooling = "mean"
    lstm_size: int | None = None
    max_tokens: int | None = None

    @property
    def name(self) -> str:
        """Its name in tables."""
        size = f" {self.lstm_size:,}" if self.lstm_size else ""
        return f"{Path(self.place).name} {_POOLINGS[self.pooling]}{size}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """All parts of an encoder, or a Transformer.

    Attributes:
        parts: the parts, at least one; not used if there is a Transformer.
        combine: how the parts' vectors are combined.
        scramble: share of the training sentences whose tokens LSTMs read in random order.
        languages: whether the two languages share all parameters or have `separate` ones.
        vocabularies: whether the languages share a vocabulary and its table or have their own. With
            `overlapping` ones, pieces that are spelled alike share an embedding.
    """

    parts: tuple[Part, ...] = (Part(),)
    combine: Literal["concatenate", "add"] = "concatenate"
    scramble: float = 0.0
    languages: Sharing = "shared"
    vocabularies: Tables = "shared"
    transformer: Transformer | None = None

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read an architecture from the output of `to_json`; what is no such output raises a `TypeError`."""
        if transformer := value.get("transformer"):
            return cls(transformer=Transformer(**transformer))
        return cls(**{**value, "parts": tuple(Part(**part) for part in value["parts"])})

    def to_json(self) -> dict[str, Any]:
        """The attributes, in the form of a model's `config.json`."""
        if self.transformer:
            return {"transformer": asdict(self.transformer)}
        # Models without a Transformer do not name one, as before there were any.
        values = {key: value for key, value in asdict(self).items() if key != "transformer"}
        return {**values, "parts": [asdict(part) for part in self.parts]}

    @property
    def units(self) -> tuple[str, ...]:
        """The units that sentences are cut into, each once, in the order of the parts."""
        if self.transformer:
            return (TOKENS,)
        return tuple(dict.fromkeys(part.unit for part in self.parts))

    @property
    def tables(self) -> Tables:
        """Whether the languages share embedding tables, have separate ones, or overlapping ones."""
        return "separate" if self.languages == "separate" else self.vocabularies

    @property
    def separate(self) -> bool:
        """Whether embedding a sentence requires its language."""
        return self.tables != "shared"

    @property
    def recurrent(self) -> bool:
        """Whether a part of the encoder has an LSTM."""
        return not self.transformer and any(part.recurrent for part in self.parts)

    @property
    def averaged(self) -> bool:
        """Whether the encoder is a single average."""
        return not self.transformer and len(self.parts) == 1 and not self.parts[0].recurrent

    @property
    def name(self) -> str:
        """The papers' name for the encoder."""
        if self.transformer:
            return self.transformer.name
        if self.averaged:
            names = _AVERAGES[self.parts[0].unit][0]
        else:
            names = "-".join(part.name for part in self.parts)
        notes = ["addition"] if len(self.parts) > 1 and self.combine == "add" else []
        if self.separate:
            notes.append("separate languages" if self.tables == "separate" else "overlapping vocabularies")
        return f"{names} ({', '.join(notes)})" if notes else names


def encoder_name(config: Mapping[str, Any]) -> str:
    """Name of a model's encoder for the tables, from its `config.json`.

    It is `Random` if it was never trained, and `Taught` if it has learned from another system, whose own
    training data nobody has cleared of test sentences.
    """
    if "architecture" in config:
        name = Architecture.from_json(config["architecture"]).name
    else:
        name = _AVERAGES[config.get("unit", "subword")][0]
    training = config.get("training", {})
    if training.get("epochs") == 0 and training.get("init", "random") == "random":
        return f"Random {name}"
    return f"Taught {name}" if config.get("teachers") else name
