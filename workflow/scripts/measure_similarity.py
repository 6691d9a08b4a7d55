"""Measure with an encoder how similar the two sides of a bitext's pairs are.

Inputs: pairs, encoder (its files; none if it has only a name). Output: similarity.
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
