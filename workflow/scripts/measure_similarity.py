"""Measure with a system how similar the two sides of a bitext's pairs are.

Inputs: pairs, system (its files; none if it has only a name). Output: similarity.
"""

from adapter import step
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.corpus.bitext_similarity import measure_similarity

with step(snakemake):
    measure_similarity(
        snakemake.input.pairs,
        snakemake.output.similarity,
        encoder=open_encoder(snakemake.params.system, threads=snakemake.threads),
        languages=tuple(snakemake.params.languages),
        shard=tuple(map(int, snakemake.wildcards.scatteritem.split("-of-"))),
    )
