"""A model's vocabulary and encoder, and how it is trained: as in the papers, or better (docs/recipe.md)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

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
from paraphrastic_pipeline.base.devices import Device, Precision
from paraphrastic_pipeline.settings.places import Place
from paraphrastic_pipeline.settings.sections.fields import (
    Count,
    Number,
    Positive,
    Several,
    Share,
    Size,
    Whole,
    as_json,
    by_recipe,
    section,
    setting,
)

Pieces = Annotated[Whole, Field(ge=10, le=1000000)]
Unknown = Literal["bytes", "spellings", "shared", "omit"]
Loss = Literal["margin", "multiple_negatives"]
Optimizer = Literal["adam", "adamw"]
Schedule = Literal["constant", "linear"]
MiningPrecision = Literal["float32", "leading"]
EngineName = Literal["auto", "fused", "autograd"]
Rate = Annotated[Number, Field(ge=0, le=0.99)]
Deviation = Annotated[Number, Field(gt=0, le=100)]
Norm = Annotated[Number, Field(gt=0, le=1000000)]
LearningRate = Annotated[Number, Field(gt=0, le=10)]
PositiveShare = Annotated[Number, Field(gt=0, le=1)]

# Distance between the seeds of two runs of a soup.
_MEMBERS = 1_000_003
# Values that the kernels for averages know of settings that are otherwise for autograd.
_OF_KERNELS: Mapping[str, Any] = {
    "loss": "margin",
    "warmup": 0.0,
    "max_gradient_norm": None,
    "precision": "float32",
}


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
    init_std: Deviation | None = None
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
            whole = Transformer(place=self.transformer, pooling=self.pooling, lstm_size=self.lstm_size)
            return Architecture(transformer=whole)
        parts = tuple(PartOfModel(**{**as_json(part), "unit": part.unit or unit}) for part in self.parts)
        # Settings without effect are normalised, so that changing them does not cause new training.
        return Architecture(
            parts=parts,
            combine=self.combine if len(parts) > 1 else "concatenate",
            scramble=self.scramble if any(part.recurrent for part in parts) else 0.0,
            languages=self.languages,
            vocabularies=vocabularies,
        )


@section
class EarlyStopping:
    """Keeps the best parameters after `patience` scores, one each `every` epochs, that are not better."""

    patience: Positive
    every: Annotated[Number, Field(ge=0.001, le=1000)]


@section
class Hyperparameters:
    """The settings of training that a model depends on."""

    dimension: Size = 1024
    """The dimension of the embeddings, and of the vectors of parts that do not set their own."""
    init: Literal["random", "teacher"] = setting("random", original="random")
    """What embeddings begin as: `random`, or the vectors of a `teacher`."""
    teacher: str | None = None
    """The system from which [embeddings begin](../docs/training.md#begin-from-a-teacher); null for none."""
    teacher_sentences: Annotated[Whole, Field(ge=2)] = 100000
    """The number of sentences of the training data that this teacher embeds, at most."""
    init_std: Deviation = by_recipe(paper=1.0, best=0.1, transformer=1.0)
    """The standard deviation of the initial embeddings."""
    init_sif: PositiveShare | None = by_recipe(paper=None, best=0.003, transformer=None)
    """The a of the factor a / (a + p) of the first embedding of a piece of frequency p; null for none."""
    epochs: Count = by_recipe(paper=25, best=25, transformer=3)
    """The number of passes over the pairs; 0 makes a random encoder, as a baseline."""
    soup: Annotated[Whole, Field(ge=1, le=100)] = 1
    """The number of trainings whose parameters are averaged (Wortsman et al. 2022, *Model soups*)."""
    batch_size: Positive = by_recipe(paper=128, best=128, transformer=64)
    """The number of pairs in a mini-batch."""
    megabatch_anneal: Count = 150
    """The number of mini-batches after which the mega-batch grows by one; with 0, it is full at once."""
    loss: Loss = by_recipe(paper="margin", best="margin", transformer="multiple_negatives")
    """With mined negatives (`margin`), or with the other targets of a mini-batch (`multiple_negatives`)."""
    scale: Annotated[Number, Field(gt=0, le=1000)] = 20.0
    """The factor of the cosines in the loss `multiple_negatives`."""
    margin: Annotated[Number, Field(gt=0, le=2)] = by_recipe(paper=0.4, best=0.6, transformer=0.4)
    """The margin δ of the loss."""
    optimizer: Optimizer = by_recipe(paper="adam", best="adam", transformer="adamw")
    """Adam, or Adam with decoupled weight decay."""
    learning_rate: LearningRate = by_recipe(paper=0.001, best=0.003, transformer=2e-06)
    """The learning rate."""
    learning_rate_schedule: Schedule = by_recipe(paper="constant", best="linear", transformer="linear")
    """Whether the learning rate is constant or falls to zero over the run."""
    warmup: Share = by_recipe(paper=0.0, best=0.0, transformer=0.1)
    """The share of the steps in which the learning rate rises from zero."""
    weight_decay: Annotated[Number, Field(ge=0, le=100)] = by_recipe(paper=0.0, best=0.0, transformer=0.01)
    """The λ of `adamw`: each step multiplies weights by 1 − learning_rate · λ."""
    max_gradient_norm: Norm | None = by_recipe(paper=None, best=None, transformer=1.0)
    """The length to which longer gradients are cut; null for none."""
    precision: Precision = by_recipe(paper="float32", best="float32", transformer="auto")
    """The precision of a Transformer's products; `auto` is float32 on a processor, and bfloat16 on a GPU."""
    negatives: Literal["other_side", "either_side"] = "other_side"
    """Whether negatives are from the other side or [either side](../docs/training.md#how-it-works)."""
    exclude_duplicates: bool = setting(True, original=False)
    """Whether copies of a pair's sentences, and sentences of its group, are no negatives of it."""
    max_negative_share: Annotated[Number, Field(gt=0, le=2)] | None = None
    """Rules out negatives whose cosine is above this share of the pair's own (Moreira et al. 2024)."""
    mining_precision: MiningPrecision = by_recipe(paper="float32", best="leading", transformer="leading")
    """How negatives are found: exactly, or first in an eighth of the dimensions (`leading`)."""
    engine: EngineName = "auto"
    """`fused` uses kernels for averages, `autograd` torch's differentiation; `auto` picks the fastest."""
    device: Device = "cpu"
    """Where training runs; `auto` uses a GPU if torch finds one, where the last digits differ."""
    shuffle_window: Annotated[Whole, Field(ge=8192)] = 1048576
    """The number of pairs that are shuffled together in memory."""
    early_stopping: EarlyStopping | None = None
    initial_vectors: str | None = None
    """The data set with word vectors from which the embeddings of words start; null for none."""

    @property
    def only_autograd(self) -> list[str]:
        """Names of the settings whose values only the engine `autograd` knows."""
        return [name for name, value in _OF_KERNELS.items() if getattr(self, name) != value]

    def trains_fused(self, architecture: Architecture) -> bool:
        """Whether the fused engine trains an encoder: an average, unless settings need or name autograd."""
        return architecture.averaged and not self.only_autograd and self.engine != "autograd"


@section
class TrainingSettings(Hyperparameters):
    """The hyperparameters of one run, named as in Wieting et al. 2021, section 5.1."""

    dropout: float
    megabatch: int
    seed: int
    member: int = 0
    """The number of the run among those of `soup`, which begin with the same parameters."""

    @property
    def run_seed(self) -> int:
        """The seed of the order of pairs and of dropout; `seed` is also that of the initial parameters."""
        return self.seed + self.member * _MEMBERS

    @property
    def negative_search(self) -> dict[str, Any]:
        """Arguments for `mining.mine`."""
        return {
            "either_side": self.negatives == "either_side",
            "max_share": self.max_negative_share,
            "leading": self.mining_precision == "leading",
        }


@section
class Training(Hyperparameters):
    """How a model is trained, and watched meanwhile, on which no result depends."""

    checkpoint_minutes: Annotated[Number, Field(ge=0, le=100000)] = 10
    """The minutes from one checkpoint to the next. A change trains nothing again."""

    @model_validator(mode="after")
    def _begins_from_its_teacher(self) -> Self:
        if (self.teacher is None) == (self.init == "teacher"):
            raise PydanticCustomError("teacher", "`init: teacher` and a `teacher` need each other")
        return self


@section
class Sweep:
    """Every combination of these values is trained, and the best by `choose_by` becomes the model."""

    dropout: Several[Rate] = setting([0.0], original=[0.0, 0.1, 0.3])
    """The share of embeddings' entries that are set to zero in training; 0.1 for a Transformer."""
    megabatch: Several[Positive] = setting([60], original=[60, 100, 140])
    """The number of mini-batches M in which negatives are searched for."""
