"""The architecture of an encoder: its parts, their combination, and what the two languages share."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from paraphrastic.base.limits import Name, Range, Size

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
# The settings of an encoder that are for Transformers only.
OF_TRANSFORMERS = ("pooling", "lstm_size", "max_tokens")
# An LSTM reads words unless its name says otherwise.
_LSTMS = {"lstm": "LSTM", "bilstm": "BLSTM"}
_OVER = {"subword": "-SP", "word": "", "trigram": "-TRIGRAM"}

# Values that the kernels for averages know of settings that are otherwise for autograd.
_OF_KERNELS: Mapping[str, Any] = {
    "loss": "margin",
    "warmup": 0.0,
    "max_gradient_norm": None,
    "precision": "float32",
    "chunk_size": None,
    "gradient_checkpointing": False,
}


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
    dimension: Size | None = None
    pooling: Pooling = "mean"
    directions: Directions = "average"
    peepholes: bool = False
    init_std: Annotated[float, Range(0, 100)] | None = None

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

    place: Name
    pooling: TransformerPooling = "mean"
    lstm_size: Size | None = None
    max_tokens: Annotated[int, Range(1, 1_000_000)] | None = None

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
    scramble: Annotated[float, Range(0, 1)] = 0.0
    languages: Sharing = "shared"
    vocabularies: Tables = "shared"
    transformer: Transformer | None = None

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read an architecture from the output of `to_json`.

        What comes from a file has been compared with these types before (`model.config_file`).
        """
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


def architecture_of(definition: Mapping[str, Any]) -> Architecture:
    """The encoder of a model, from its completed definition."""
    encoder, vocabulary = definition["encoder"], definition["vocabulary"]
    if place := encoder.get("transformer"):
        own = {key: encoder[key] for key in OF_TRANSFORMERS}
        return Architecture(transformer=Transformer(place=place, **own))
    parts = {key: value for key, value in encoder.items() if key not in ("transformer", *OF_TRANSFORMERS)}
    architecture = Architecture.from_json({**parts, "vocabularies": vocabulary["languages"]})
    # Settings without effect are normalised, so that changing them does not cause new training.
    if not architecture.recurrent:
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

    The first is called `sentencepiece`; the names of the others include the unit and the language. A
    Transformer has its own tokenizer, and none of these.
    """
    architecture = architecture_of(definition)
    if architecture.transformer:
        return {}
    sides: dict[str, tuple[str, ...]] = {"": ("source", "target")}
    if architecture.vocabularies != "shared":
        source, target = definition["languages"]
        sides = {f"-{source}": ("source",), f"-{target}": ("target",)}
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for unit, (suffix, of_unit) in product(architecture.units, sides.items()):
        found[f"sentencepiece-{unit}{suffix}" if found else "sentencepiece"] = (unit, of_unit)
    return found


def vocabulary_settings(definition: Mapping[str, Any], unit: str) -> dict[str, Any]:
    """Settings of a unit's vocabulary: the common ones, overridden by those for this unit."""
    section = definition["vocabulary"]
    others = ("units", "languages", "unit", "only_initial_vectors")
    common = {key: value for key, value in section.items() if key not in others}
    settings = {**common, **section["units"].get(unit, {})}
    settings["unknown"] = settings["unknown"] or ("shared" if unit == "trigram" else "bytes")
    # A setting without effect is normalised, so that changing it does not cause new training.
    return settings if unit == "subword" else {**settings, "character_coverage": 1.0}


def trains_fused(architecture: Architecture, training: Mapping[str, Any]) -> bool:
    """Whether the fused engine trains an encoder: an average, unless the settings need or name autograd."""
    able = architecture.averaged and not (training["initial_vectors_penalty"] or only_autograd(training))
    return able and training["engine"] != "autograd"


def only_autograd(training: Mapping[str, Any]) -> list[str]:
    """Names of the training settings whose values only the autograd engine knows."""
    return [name for name, value in _OF_KERNELS.items() if training.get(name, value) != value]
