"""Measure how similar the sides of a bitext's pairs are to an encoder.

Inputs: pairs, encoder (its files; none of one that has only a name). Output: similarity.
"""

from adapter import step
from paraphrastic.systems.bitext_similarity import measure_similarity
from paraphrastic.systems.open import open_system

with step(snakemake):
    measure_similarity(
        snakemake.input.pairs,
        snakemake.output.similarity,
        encoder=open_system(snakemake.params.encoder, threads=snakemake.threads),
        languages=tuple(snakemake.params.languages),
        shard=tuple(map(int, snakemake.wildcards.scatteritem.split("-of-"))),
    )
