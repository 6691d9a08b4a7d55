"""An encoder that is a function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FunctionEncoder:
    """An encoder whose vectors are a function of the sentences and the code of their language."""

    label: str
    dim: int
    digest: str
    embed: Callable[[Sequence[str], str | None], np.ndarray]

    def encode(self, sentences: Sequence[str], *, language: str | None = None) -> np.ndarray:
        return self.embed(sentences, language)
