"""The vocabulary and the encoder of a model."""

from collections.abc import Mapping
from typing import Annotated, Literal

from paraphrastic.base.limits import Length, Range
from paraphrastic.model.architecture import Unit
from paraphrastic_pipeline.settings.declared import derived, section, setting
from paraphrastic_pipeline.settings.sections.names import NotEmpty


@section
class UnitVocabulary:
    """The settings of one unit; all others are those of `vocabulary`."""

    size: Annotated[int, Range(10, 1000000)] = derived()
    character_coverage: Annotated[float, Range(0.98, 1)] = derived()
    unknown: Literal["bytes", "spellings", "shared", "omit"] = derived()
    max_sentences: Annotated[int, Range(1)] = derived()
    hard_limit: bool = derived()
    max_pieces: Annotated[int, Range(1)] | None = derived()


@section
class Vocabulary:
    """What sentences are cut into, and how the pieces are learned."""

    unit: Unit = "subword"
    """What sentences are cut into: subwords (by sentencepiece), words, or character trigrams."""
    size: Annotated[int, Range(10, 1000000)] = 50000
    """The number of pieces, which are sentencepiece's subwords, or the most frequent words or trigrams."""
    character_coverage: Annotated[float, Range(0.98, 1)] = setting(1.0, original=0.995)
    """The share of the characters of the training text that subwords must cover. With less than 1, digits and
    rare letters may have no piece.
    """
    unknown: Literal["bytes", "spellings", "shared", "omit"] | None = setting(None, original="spellings")
    """What becomes of text without a piece: its `bytes`, a piece of its own if the training text has it
    (`spellings`), one vector for all of it (`shared`), or nothing (`omit`); see [text without a
    piece](../docs/encoders.md#text-without-a-piece). Null means bytes for subwords and words, and shared for
    trigrams.
    """
    only_initial_vectors: bool = False
    """Whether the words of `training.initial_vectors` are the vocabulary, as in ParaNMT-50M's code, which
    gives all other words one vector (`unknown: shared`). Words of the training text come first, by their
    frequency, and then the others in the file's order, up to `size`.
    """
    max_sentences: Annotated[int, Range(1)] = 10000000
    """The number of sentences from which the vocabulary is trained, at most."""
    hard_limit: bool = False
    """Whether it is an error if there are fewer pieces than asked for."""
    max_pieces: Annotated[int, Range(1)] | None = 100
    """The number of pieces after which sentences are cut off in training; null keeps them whole."""
    languages: Literal["shared", "separate", "overlapping"] = "shared"
    """Whether the two languages share a vocabulary (`shared`), have their own vocabularies and embeddings
    (`separate`), or have their own vocabularies with one embedding for pieces of the same spelling
    (`overlapping`).
    """
    units: Mapping[Unit, UnitVocabulary] = setting({})
    """Overrides the settings of the vocabulary for a unit, if an encoder has several."""


@section
class Part:
    """One encoder of a sentence, with its own embeddings."""

    kind: Literal["average", "lstm", "bilstm"]
    """The average of a sentence's embeddings, or the states of an LSTM or a BiLSTM over them."""
    unit: Unit | None = None
    """What sentences are cut into; null for `vocabulary.unit`."""
    dimension: Annotated[int, Range(1, 65536)] | None = None
    """The dimension of the part's vector; null for `training.dimension`, which is also the dimension of an
    LSTM's embeddings.
    """
    pooling: Literal["mean", "max"] = "mean"
    """How the states of an LSTM become one vector."""
    directions: Literal["average", "concatenate"] = "average"
    """How the vectors of a BiLSTM's two directions become one."""
    peepholes: bool = False
    """Whether the gates of an LSTM also see its cell, as in ParaNMT-50M's code."""
    init_std: Annotated[float, Range(0, 100, is_open=True)] | None = None
    """The standard deviation of the part's initial embeddings; null for `training.init_std`. ParaNMT-50M's
    code has 0.01 for trigrams.
    """


@section
class Encoder:
    """How a sentence becomes a vector; see [encoders](../docs/encoders.md)."""

    parts: Annotated[list[Part], Length(1)] = setting([{"kind": "average"}])
    """The encoders that are trained together, each with its own embeddings."""
    combine: Literal["concatenate", "add"] = "concatenate"
    """How the vectors of the parts become one."""
    scramble: Annotated[float, Range(0, 1)] = 0.3
    """The share of sentences whose tokens LSTMs see in random order, in training."""
    languages: Literal["shared", "separate"] = "shared"
    """Whether the two languages share all parameters or have their own."""
    transformer: NotEmpty | None = None
    """A Transformer in place of the parts: a folder, or a name on the Hugging Face Hub, such as
    `sdadas/polish-roberta-base-v2`. Null for none.
    """
    pooling: Literal["mean", "cls", "lstm_last"] = "mean"
    """How the vectors of a Transformer's tokens become one: their `mean`, the vector of the first token
    (`cls`), or the last state of an LSTM over them (`lstm_last`).
    """
    lstm_size: Annotated[int, Range(1, 65536)] | None = None
    """The dimension of the LSTM's state, and so of the sentence vectors; the paper has 1024 to 4096."""
    max_tokens: Annotated[int, Range(3, 1000000)] | None = None
    """The number of a Transformer's tokens after which sentences are cut off; null for as many as it can
    read.
    """
