"""How a model is scored while it is trained."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Development:
    """How a model is scored while it is trained, from its files, and on which data; higher is better.

    Scores that are only shown are `every` so many epochs apart; those of early stopping, as it says itself.
    """

    score: Callable[[Any], float]
    data: Sequence[Path]
    every: float = 1.0
