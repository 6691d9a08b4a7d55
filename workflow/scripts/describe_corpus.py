"""Measure what a corpus is like.

Input: scored. Outputs: statistics, sample (of its sentences).
"""

from adapter import step
from paraphrastic_pipeline.corpus.database import resources_of
from paraphrastic_pipeline.corpus.statistics import describe_corpus

with step(snakemake):
    describe_corpus(
        snakemake.input.scored,
        snakemake.output.statistics,
        snakemake.output.sample,
        languages=tuple(snakemake.wildcards.pair.split("-")),
        sentences=snakemake.params.sentences,
        seed=snakemake.params.seed,
        **resources_of(snakemake),
    )
