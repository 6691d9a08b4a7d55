"""What the training loop asks of an engine."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from torch import Tensor

from paraphrastic.base.arrays import Bool, Float32, Int64
from paraphrastic_pipeline.training.sentences import Sentences

Weights = Mapping[str, Float32]
# Makes the files of a model from its parameters and from entries of `config.json`.
MakeFiles = Callable[[Weights, Mapping[str, Any]], Any]


class Engine(Protocol):
    """Holds the parameters and the optimizer of a run.

    Asking for weights or state does not change a digit of what follows.
    """

    def embed(self, sentences: Sentences) -> Tensor:
        """Embed with the current parameters, without dropout: unit vectors, float32 [n, dimension]."""

    def step(self, sentences: Sentences, chosen: Int64, allowed: Bool) -> float | Tensor:
        """Train on one mini-batch of n pairs, and return its loss, a tensor if it is not known yet.

        Args:
            sentences: all sentences of the mega-batch.
            chosen: indices in `sentences`. For the loss `margin`, int64 [4n]: s of every pair, then t, t′ and
                s′; for `multiple_negatives`, int64 [2n]: s of every pair, and then t.
            allowed: for `margin`, bool [2, n], false where s (first row) or t (second row) has no negative;
                for `multiple_negatives`, bool [n, n], whether target j counts for source i.
        """

    def weights(self) -> dict[str, Float32]:
        """Copies of the current parameters, by name."""

    def state(self) -> dict[str, Tensor]:
        """The state that `restore` needs to continue from here."""

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Continue from the point at which `state` was called."""
