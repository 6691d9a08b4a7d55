"""The vocabulary and the encoder of a model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from paraphrastic.model.architecture import (
    Architecture,
    Directions,
    PartKind,
    Pooling,
    Sharing,
    Tables,
    Transformer,
    TransformerPooling,
    Unit,
)
from paraphrastic.model.architecture import Part as PartOfModel
from paraphrastic_pipeline.settings.places import Place
from paraphrastic_pipeline.settings.sections.fields import (
    Number,
    Positive,
    Share,
    Size,
    Whole,
    as_json,
    section,
    setting,
)

Pieces = Annotated[Whole, Field(ge=10, le=1000000)]
Unknown = Literal["bytes", "spellings", "shared", "omit"]


@section
class OfUnit:
    """The settings that a unit's vocabulary has of its own; null for those of all."""

    size: Pieces | None = None
    """The number of pieces."""
    unknown: Unknown | None = None
    """What becomes of text without a piece."""


@section
class Vocabulary:
    """What sentences are cut into, and how the pieces are learned."""

    unit: Unit = "subword"
    """What sentences are cut into: subwords (by sentencepiece), words, or character trigrams."""
    size: Pieces = 50000
    """The number of pieces, which are sentencepiece's subwords, or the most frequent words or trigrams."""
    character_coverage: Annotated[Number, Field(ge=0.98, le=1)] = setting(1.0, original=0.995)
    """The share of the training text's characters that subwords cover; with less than 1, not rare ones."""
    unknown: Unknown | None = setting(None, original="spellings")
    """What [text without a piece](../docs/encoders.md#text-without-a-piece) becomes; null for the unit's."""
    only_initial_vectors: bool = False
    """Whether the words of `training.initial_vectors` are the vocabulary, as in ParaNMT-50M's code."""
    max_sentences: Positive = 10000000
    """The number of sentences from which the vocabulary is trained, at most."""
    max_pieces: Positive | None = 100
    """The number of pieces after which sentences are cut off in training; null keeps them whole."""
    languages: Tables = "shared"
    """Whether the languages share a vocabulary, have their own, or their own with common embeddings."""
    units: Mapping[Unit, OfUnit] = setting({})
    """Overrides the settings of the vocabulary for a unit, if an encoder has several."""

    def of_unit(self, unit: str) -> "Vocabulary":
        """The settings of a unit's vocabulary: the common ones, overridden by those for this unit."""
        own = next((own for name, own in self.units.items() if name == unit), OfUnit())
        unknown = own.unknown or self.unknown or ("shared" if unit == "trigram" else "bytes")
        # A setting without effect is normalised, so that changing it does not cause new training.
        coverage = self.character_coverage if unit == "subword" else 1.0
        size = own.size or self.size
        return replace(self, units={}, size=size, unknown=unknown, character_coverage=coverage)


@section
class Part:
    """One encoder of a sentence, with its own embeddings."""

    kind: PartKind
    """The average of a sentence's embeddings, or the states of an LSTM or a BiLSTM over them."""
    unit: Unit | None = None
    """What sentences are cut into; null for `vocabulary.unit`."""
    dimension: Size | None = None
    """The dimension of the part's vector; null for `training.dimension`."""
    pooling: Pooling = "mean"
    """How the states of an LSTM become one vector."""
    directions: Directions = "average"
    """How the vectors of a BiLSTM's two directions become one."""
    peepholes: bool = False
    """Whether the gates of an LSTM also see its cell, as in ParaNMT-50M's code."""
    init_std: Annotated[Number, Field(gt=0, le=100)] | None = None
    """The standard deviation of the part's initial embeddings; null for `training.init_std`."""


@section
class Encoder:
    """How a sentence becomes a vector; see [encoders](../docs/encoders.md)."""

    parts: Annotated[list[Part], Field(min_length=1)] = setting([{"kind": "average"}])
    """The encoders that are trained together, each with its own embeddings."""
    combine: Literal["concatenate", "add"] = "concatenate"
    """How the vectors of the parts become one."""
    scramble: Share = 0.3
    """The share of sentences whose tokens LSTMs see in random order, in training."""
    languages: Sharing = "shared"
    """Whether the two languages share all parameters or have their own."""
    transformer: Place | None = None
    """A Transformer in place of the parts: a folder, or a name on the Hugging Face Hub; null for none."""
    pooling: TransformerPooling = "mean"
    """How the vectors of a Transformer's tokens become one; `cls` is the first token's."""
    lstm_size: Size | None = None
    """The dimension of the LSTM's state, and so of the sentence vectors; the paper has 1024 to 4096."""

    def architecture(self, unit: Unit, vocabularies: Tables) -> Architecture:
        """The encoder, whose parts have this `unit` if they name none."""
        if self.transformer:
            return Architecture(
                transformer=Transformer(
                    place=self.transformer,
                    pooling=self.pooling,
                    lstm_size=self.lstm_size,
                )
            )
        parts = tuple(PartOfModel(**{**as_json(part), "unit": part.unit or unit}) for part in self.parts)
        # Settings without effect are normalised, so that changing them does not cause new training.
        return Architecture(
            parts=parts,
            combine=self.combine if len(parts) > 1 else "concatenate",
            scramble=self.scramble if any(part.recurrent for part in parts) else 0.0,
            languages=self.languages,
            vocabularies=vocabularies,
        )
