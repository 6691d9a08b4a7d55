"""How a model is trained: the hyperparameters of the papers, and better ones (docs/recipe.md)."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from paraphrastic.model.architecture import Architecture
from paraphrastic_pipeline.base.devices import Device, Precision
from paraphrastic_pipeline.settings.sections.fields import (
    DISTINCT,
    Count,
    Number,
    Positive,
    Share,
    Size,
    Whole,
    by_recipe,
    section,
    setting,
)

Initialization = Literal["random", "cooccurrences", "teacher"]
Loss = Literal["margin", "multiple_negatives", "cosines"]
Optimizer = Literal["adam", "lazy_adam", "adamw"]
LearningRateSchedule = Literal["constant", "linear"]
Negatives = Literal["other_side", "either_side"]
MiningPrecision = Literal["auto", "float32", "bfloat16", "int8", "leading"]
EngineName = Literal["auto", "fused", "autograd"]
Dropout = Annotated[Number, Field(ge=0, le=0.99)]

# Values that the kernels for averages know of settings that are otherwise for autograd.
_OF_KERNELS: Mapping[str, Any] = {
    "loss": "margin",
    "warmup": 0.0,
    "max_gradient_norm": None,
    "precision": "float32",
    "chunk_size": None,
    "gradient_checkpointing": False,
}


@section
class EarlyStopping:
    """Stops after `patience` scores in a row, one every `every` epochs, that are not better than the best,
    whose parameters are kept. Null trains all epochs.
    """

    patience: Positive
    every: Annotated[Number, Field(ge=0.001, le=1000)]


@section
class Hyperparameters:
    """The settings of training that a model depends on."""

    dimension: Size = 1024
    """The dimension of the embeddings, and of the vectors of parts that do not set their own."""
    init: Initialization = setting("random", original="random")
    """What embeddings begin as: `random`, `cooccurrences` of pieces, or the vectors of a `teacher`."""
    teacher: str | None = None
    """The system from which [embeddings begin](../docs/training.md#begin-from-a-teacher); null for none."""
    teacher_sentences: Annotated[Whole, Field(ge=2)] = 100000
    """The number of sentences of the training data that this teacher embeds, at most."""
    init_std: Annotated[Number, Field(gt=0, le=100)] = by_recipe(paper=1.0, best=0.1, transformer=1.0)
    """The standard deviation of the initial embeddings."""
    init_sif: Annotated[Number, Field(gt=0, le=1)] | None = by_recipe(
        paper=None, best=0.003, transformer=None
    )
    """The a of the factor a / (a + p) of the first embedding of a piece of frequency p; null for none."""
    epochs: Count = by_recipe(paper=25, best=25, transformer=3)
    """The number of passes over the pairs; 0 makes a random encoder, as a baseline."""
    soup: Annotated[Whole, Field(ge=1, le=100)] = 1
    """The number of trainings whose parameters are averaged (Wortsman et al. 2022, *Model soups*)."""
    coarser: Annotated[list[Positive], DISTINCT] = setting([])
    """Sizes of further vocabularies, [whose tables are joined](../docs/training.md#coarser-vocabularies)."""
    trained_dimension: Size | None = None
    """The dimension of the tables that `coarser` joins; null for `training.dimension`."""
    batch_size: Positive = by_recipe(paper=128, best=128, transformer=64)
    """The number of pairs in a mini-batch."""
    megabatch_anneal: Count = 150
    """The number of mini-batches after which the mega-batch grows by one; with 0, it is full at once."""
    loss: Loss = by_recipe(paper="margin", best="margin", transformer="multiple_negatives")
    """The margin loss with mined negatives (`margin`) or all targets of the mini-batch
    (`multiple_negatives`), or the difference from the cosines of `distil` (`cosines`).
    """
    distil: str | None = None
    """The teacher, a definition or one of `systems`, whose cosines the model learns; null for none."""
    scale: Annotated[Number, Field(gt=0, le=1000)] = 20.0
    """The factor of the cosines in the loss `multiple_negatives`."""
    margin: Annotated[Number, Field(gt=0, le=2)] = by_recipe(paper=0.4, best=0.6, transformer=0.4)
    """The margin δ of the loss."""
    optimizer: Optimizer = by_recipe(paper="adam", best="adam", transformer="adamw")
    """Adam, Adam that moves only the rows of the mini-batch, or Adam with decoupled weight decay."""
    learning_rate: Annotated[Number, Field(gt=0, le=10)] = by_recipe(
        paper=0.001, best=0.003, transformer=2e-06
    )
    """The learning rate."""
    learning_rate_schedule: LearningRateSchedule = by_recipe(
        paper="constant", best="linear", transformer="linear"
    )
    """Whether the learning rate is constant or falls to zero over the run."""
    warmup: Share = by_recipe(paper=0.0, best=0.0, transformer=0.1)
    """The share of the steps in which the learning rate rises from zero."""
    weight_decay: Annotated[Number, Field(ge=0, le=100)] = by_recipe(paper=0.0, best=0.0, transformer=0.01)
    """The λ of `adamw`: each step multiplies weights by 1 − learning_rate · λ."""
    max_gradient_norm: Annotated[Number, Field(gt=0, le=1000000)] | None = by_recipe(
        paper=None, best=None, transformer=1.0
    )
    """The length to which longer gradients are cut; null for none."""
    precision: Precision = by_recipe(paper="float32", best="float32", transformer="auto")
    """The precision of the encoder's products; `auto` is float32 on a processor, and 16 bits on a GPU."""
    chunk_size: Positive | None = None
    """The number of sentences whose states are in memory at a time in a step; null for all."""
    gradient_checkpointing: bool = False
    """Whether a Transformer computes its states twice, which takes less memory and a third more time."""
    negatives: Negatives = "other_side"
    """Whether negatives are from the other side or [either side](../docs/training.md#how-it-works)."""
    exclude_duplicates: bool = setting(True, original=False)
    """Whether copies of a pair's sentences, and sentences of its group, are no negatives of it."""
    max_negative_share: Annotated[Number, Field(gt=0, le=2)] | None = None
    """Rules out negatives whose cosine is above this share of the pair's own (Moreira et al. 2024)."""
    mining_precision: MiningPrecision = by_recipe(paper="float32", best="auto", transformer="auto")
    """The precision of the similarities that choose negatives. `leading` finds candidates by an eighth of the
    dimensions; `auto` is the fastest that the processor or GPU has.
    """
    engine: EngineName = "auto"
    """`fused` uses kernels for averages, `autograd` torch's differentiation; `auto` picks the fastest."""
    device: Device = "cpu"
    """Where training runs; `auto` uses a GPU if torch finds one, where the last digits differ."""
    shuffle_window: Annotated[Whole, Field(ge=8192)] = 1048576
    """The number of pairs that are shuffled together in memory."""
    early_stopping: EarlyStopping | None = None
    initial_vectors: str | None = None
    """The data set with word vectors from which the embeddings of words start; null for none."""
    initial_vectors_penalty: Annotated[Number, Field(ge=0, le=1000000)] = 0.0
    """The λ of the penalty λ‖W − W₀‖² that holds these embeddings W to their initial values W₀."""
    composition_penalty: Annotated[Number, Field(ge=0, le=1000000)] = 0.0
    """The λ of the penalty λ‖W‖² that holds the weights and biases W of LSTMs near zero."""

    @property
    def only_autograd(self) -> list[str]:
        """Names of the settings whose values only the engine `autograd` knows."""
        return [name for name, value in _OF_KERNELS.items() if getattr(self, name) != value]

    def trains_fused(self, architecture: Architecture) -> bool:
        """Whether the fused engine trains an encoder: an average, unless settings need or name autograd."""
        able = architecture.averaged and not (self.initial_vectors_penalty or self.only_autograd)
        return able and self.engine != "autograd"


@section
class TrainingSettings(Hyperparameters):
    """The hyperparameters of one run, named as in Wieting et al. 2021, section 5.1."""

    dropout: float
    megabatch: int
    seed: int

    @property
    def all_epochs(self) -> int:
        """Number of epochs of all the trainings whose parameters are averaged or joined."""
        return self.epochs * self.soup * (1 + len(self.coarser))

    @property
    def table_dimension(self) -> int:
        """Dimension of the tables that are trained, of which several are joined into one of `dimension`."""
        joined = self.coarser and self.epochs
        return self.trained_dimension or self.dimension if joined else self.dimension

    @property
    def negative_search(self) -> dict[str, Any]:
        """Arguments for `hardest_negatives` and `hardest_on_device`."""
        return {
            "either_side": self.negatives == "either_side",
            "exclude_duplicates": self.exclude_duplicates,
            "max_share": self.max_negative_share,
            "precision": self.mining_precision,
        }


@section
class Training(Hyperparameters):
    """How a model is trained, and watched meanwhile, on which no result depends."""

    checkpoint_minutes: Annotated[Number, Field(ge=0, le=100000)] = 10
    """The minutes from one checkpoint to the next. A change trains nothing again."""
    tensorboard: bool = False
    """Whether the history of a run is also written for TensorBoard (`pip install tensorboard`)."""


@section
class Sweep:
    """Every combination of these values is trained, and the best by `choose_by` becomes the model."""

    dropout: Annotated[list[Annotated[Number, Field(ge=0, le=0.99)]], Field(min_length=1), DISTINCT] = (
        setting([0.0], original=[0.0, 0.1, 0.3])
    )
    """The share of embeddings' entries that are set to zero in training; 0.1 for a Transformer."""
    megabatch: Annotated[list[Positive], Field(min_length=1), DISTINCT] = setting(
        [60], original=[60, 100, 140]
    )
    """The number of mini-batches M in which negatives are searched for."""
