"""Embed training pairs with another system, whose judgement a model is to learn."""

from pathlib import Path

import numpy as np

from paraphrastic.model.system import System
from paraphrastic_pipeline.base.hdf5 import new_hdf5
from paraphrastic_pipeline.corpus.blocks import read_blocks

_SIDES = ("source", "target")
_ROWS_PER_CHUNK = 1024


def embed_teacher(
    pairs: str | Path,
    output: Path,
    *,
    system: System,
    languages: tuple[str | None, str | None] = (None, None),
    block_rows: int = 8192,
) -> None:
    """Write the unit vectors of both sides of `pairs`, in their order, as training reads them.

    `/source` and `/target` are float16 [pairs, dim].

    Args:
        pairs: Parquet with the columns `source` and `target`.
        output: the HDF5 file.
        system: the teacher.
        languages: language codes of the sides, for a system that needs them.
        block_rows: pairs embedded together.

    Raises:
        InputError: the pairs are damaged, or a vector is not finite.
    """
    with new_hdf5(output) as file:
        shape = {"maxshape": (None, system.dim), "chunks": (_ROWS_PER_CHUNK, system.dim)}
        for side in _SIDES:
            file.create_dataset(side, (0, system.dim), np.float16, **shape)
        for block in read_blocks(pairs, columns=[*_SIDES], rows=block_rows):
            for side, language in zip(_SIDES, languages, strict=True):
                vectors = system.embed_finite(block[side].to_pylist(), language, name=str(pairs))
                lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
                vectors_of_side = file[side]
                vectors_of_side.resize((len(vectors_of_side) + block.num_rows, system.dim))
                vectors_of_side[-block.num_rows :] = vectors / np.maximum(lengths, 1e-12)
