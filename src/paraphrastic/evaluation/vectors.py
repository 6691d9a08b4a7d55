"""Vectors of test sentences, refused where no figure could be made of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.errors import InputError
from paraphrastic.search.bitext import embed_directions
from paraphrastic.search.directions import Directions
from paraphrastic.systems.open import System

_ROUNDING = 1e-6
_BLOCK = 4096


def distinct_directions(encoder: System, sentences: Sequence[str], language: str, *, name: str) -> Directions:
    """Directions of the vectors of the sentences of the test set `name`.

    Raises:
        InputError: a vector is not finite, or all sentences have the same direction.
    """
    directions = embed_directions(encoder, sentences, language, name=name)
    if len(directions) > 1 and _are_alike(directions.entries):
        raise InputError(f"{encoder.label}: {name}: all sentences in {language} have the same direction")
    return directions


def _are_alike(entries: npt.NDArray[Any]) -> bool:
    """Whether all rows are the same, but for the rounding of single precision."""
    first = entries[0].astype(np.float32)
    bound = _ROUNDING * float(np.abs(first).max())
    blocks = (entries[start : start + _BLOCK] for start in range(0, len(entries), _BLOCK))
    return all(float(np.abs(block - first).max()) <= bound for block in blocks)
