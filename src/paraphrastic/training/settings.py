"""Settings of one training run."""

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

Negatives = Literal["other_side", "either_side"]
Optimizer = Literal["adam", "lazy_adam", "adamw"]
Engine = Literal["auto", "fused", "autograd"]
Device = Literal["auto", "cpu", "cuda"]
Schedule = Literal["constant", "linear"]
MiningPrecision = Literal["auto", "float32", "bfloat16", "int8"]


class EarlyStopping(TypedDict):
    """When to stop, and which parameters to keep: those with the best score on the development data."""

    patience: int
    """Scores in a row that are not better than the best one, after which training stops."""
    every: float
    """Epochs from one score to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """Hyperparameters of one run; names as in Wieting et al. 2021, section 5.1.

    Attributes:
        dimension: of the embeddings, and of the vectors of parts that have none of their own.
        init_std: standard deviation of the initial embeddings; the original's is 1.
        init_sif: a of the smooth inverse frequency a / (a + p), by which the initial embedding of a piece of
            relative frequency p is multiplied, in averages (Arora et al. 2017, section 3); None for 1.
        epochs: passes over the training pairs.
        batch_size: pairs a mini-batch.
        megabatch: the largest number M of mini-batches among which negatives are looked for.
        megabatch_anneal: M starts at 1 and grows by 1 each time that so many mini-batches were read.
        margin: δ of the loss.
        dropout: chance that an entry of a token's embedding is left out.
        optimizer: dense Adam; Adam that moves only rows of the mini-batch; dense Adam with weight decay.
        learning_rate: of the optimizer.
        learning_rate_schedule: whether it stays, or falls to zero over the run in equal steps.
        weight_decay: λ of AdamW: each step multiplies all parameters by 1 − learning_rate · λ.
        negatives: whether a sentence's negative comes from the other side's sentences or from both sides.
        exclude_duplicates: whether a copy of the pair's own sentences is barred from being its negative.
        mining_precision: of the similarities by which negatives are chosen; `auto` is bfloat16 on a GPU,
            which takes int8 for it too, and elsewhere the first of int8, bfloat16 and float32 that the
            processor has instructions for.
        engine: kernels made for averaged embeddings, or torch's autograd; `auto` is the first where they can
            train the encoder.
        device: that training runs on; `auto` is a GPU where torch sees one, and the processor elsewhere.
        shuffle_window: pairs shuffled together in memory; see `PairDataset.shuffled`.
        initial_vectors: data set with the word vectors that tables of words begin with; None: random ones.
        initial_vectors_penalty: λ of λ‖W − W₀‖², W₀ being these tables as they began.
        seed: of initial embeddings, shuffling and dropout.
        early_stopping: None trains all epochs and keeps the last parameters.
    """

    dimension: int
    init_std: float
    init_sif: float | None
    epochs: int
    batch_size: int
    megabatch: int
    megabatch_anneal: int
    margin: float
    dropout: float
    optimizer: Optimizer
    learning_rate: float
    learning_rate_schedule: Schedule
    weight_decay: float
    negatives: Negatives
    exclude_duplicates: bool
    mining_precision: MiningPrecision
    engine: Engine
    device: Device = "cpu"
    shuffle_window: int
    initial_vectors: str | None = None
    initial_vectors_penalty: float = 0.0
    seed: int
    early_stopping: EarlyStopping | None = None

    @property
    def negative_search(self) -> dict[str, Any]:
        """The arguments of `hardest_negatives`, on the processor and on a GPU."""
        return {
            "either_side": self.negatives == "either_side",
            "exclude_duplicates": self.exclude_duplicates,
            "precision": self.mining_precision,
        }
