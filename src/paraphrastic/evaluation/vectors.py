"""Vectors of test sentences, refused where no figure could be made of them."""

from collections.abc import Sequence

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.model.system import System
from paraphrastic.neighbours.bitext import embed_entries
from paraphrastic.neighbours.kernels import Entries

_ROUNDING = 1e-6
_BLOCK = 4096


def distinct_entries(encoder: System, sentences: Sequence[str], language: str, *, name: str) -> Entries:
    """The vectors of the sentences of the test set `name`, as `embed_entries` scales them, [n, dim].

    Raises:
        InputError: a vector is not finite, or all sentences have the same direction.
    """
    entries = embed_entries(encoder, sentences, language, name=name)
    if len(entries) > 1 and _are_alike(entries):
        raise InputError(f"{encoder.label}: {name}: all sentences in {language} have the same direction")
    return entries


def _are_alike(entries: Entries) -> bool:
    """Whether all rows are the same, but for the rounding of single precision."""
    first = entries[0].astype(np.float32)
    bound = _ROUNDING * float(np.abs(first).max())
    blocks = (entries[start : start + _BLOCK] for start in range(0, len(entries), _BLOCK))
    return all(float(np.abs(block - first).max()) <= bound for block in blocks)
