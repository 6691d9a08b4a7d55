"""Measure how similar the two sides of a bitext's pairs are, according to an encoder."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from paraphrastic.model.encoder import Encoder, Vectors, cosines
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, read_blocks, write_blocks

SIMILARITY_SCHEMA = pa.schema([*PAIR_SCHEMA, ("similarity", pa.float32())])
# Pairs embedded together: at 1,024 dimensions, the distinct vectors and their copies by row take 130 MB.
EMBEDDED_PAIRS = 8192


def measure_similarity(
    pairs: str | Path,
    similarity: str | Path,
    *,
    system: str,
    languages: Sequence[str | None] = (None, None),
    threads: int = 1,
    shard: tuple[int, int] = (1, 1),
) -> None:
    """Write the pairs with the cosine of their sides (`SIMILARITY_SCHEMA`), in the same order.

    No pair is dropped, so a threshold can change without embedding again. A sentence that recurs in a block
    is embedded once.

    Args:
        pairs: Parquet file made by `extract_corpus`; the encoder gets its text unchanged.
        similarity: the Parquet file.
        system: the name of an encoder that knows both languages, see `open_encoder`.
        languages: language codes of the sides, for an encoder that needs them.
        threads: threads of the encoder.
        shard: `(i, n)` for the i-th (from 1) of n shards of the corpus's row groups. A shard may be empty.

    Raises:
        InputError: the input is damaged, or the disk is full.
    """
    encoder = open_encoder(system, threads=threads)
    with write_blocks(similarity, SIMILARITY_SCHEMA) as writer:
        for block in read_blocks(
            pairs, columns=["source", "target", "line"], rows=EMBEDDED_PAIRS, shard=shard
        ):
            sides = zip(block.columns[:2], languages, strict=True)
            measured = cosines(*(_embed(encoder, texts, language) for texts, language in sides))
            columns = [*block.columns, pa.array(measured, pa.float32())]
            writer.write(pa.RecordBatch.from_arrays(columns, schema=SIMILARITY_SCHEMA))


def _embed(encoder: Encoder, texts: pa.Array, language: str | None) -> Vectors:
    """Vectors of the texts, [n, dim]."""
    distinct = texts.dictionary_encode()
    vectors = encoder.encode(distinct.dictionary.to_pylist(), language=language)
    return vectors[np.asarray(distinct.indices)]
