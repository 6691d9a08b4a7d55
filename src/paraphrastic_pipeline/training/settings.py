"""Settings of one training run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from paraphrastic.base.devices import Device, Precision

Initialization = Literal["random", "cooccurrences"]
Negatives = Literal["other_side", "either_side"]
Optimizer = Literal["adam", "lazy_adam", "adamw"]
EngineName = Literal["auto", "fused", "autograd"]
LearningRateSchedule = Literal["constant", "linear"]
Loss = Literal["margin", "multiple_negatives", "cosines"]
MiningPrecision = Literal["auto", "float32", "bfloat16", "int8"]


class EarlyStopping(TypedDict):
    """When to stop early; the parameters with the best score on the development data are kept."""

    patience: int
    """Training stops after this many scores in a row that are not better than the best one."""
    every: float
    """Epochs from one score to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """Hyperparameters of one run, named as in Wieting et al. 2021, section 5.1.

    `config/README.md` explains them under `training`. The original's `init_std` is 1. `seed` seeds initial
    embeddings, shuffling and dropout. Without `early_stopping`, the last parameters are kept.
    """

    dimension: int
    init: Initialization = "random"
    init_std: float
    init_sif: float | None
    distil: str | None = None
    epochs: int
    soup: int = 1
    coarser: Sequence[int] = ()
    trained_dimension: int | None = None
    batch_size: int
    megabatch: int
    megabatch_anneal: int
    loss: Loss = "margin"
    margin: float
    scale: float = 20.0
    dropout: float
    optimizer: Optimizer
    learning_rate: float
    learning_rate_schedule: LearningRateSchedule
    warmup: float = 0.0
    weight_decay: float
    max_gradient_norm: float | None = None
    precision: Precision = "float32"
    chunk_size: int | None = None
    gradient_checkpointing: bool = False
    negatives: Negatives
    exclude_duplicates: bool
    max_negative_share: float | None = None
    mining_precision: MiningPrecision
    engine: EngineName
    device: Device = "cpu"
    shuffle_window: int
    initial_vectors: str | None = None
    initial_vectors_penalty: float = 0.0
    composition_penalty: float = 0.0
    seed: int
    early_stopping: EarlyStopping | None = None

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
