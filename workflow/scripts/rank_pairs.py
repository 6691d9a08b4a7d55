"""Rank the pairs of a model's corpora, cut them into parts and sample each part.

Inputs: candidates, contaminated. Outputs: parts, summary.
"""

from adapter import step
from paraphrastic_pipeline.corpus.database import resources_of
from paraphrastic_pipeline.corpus.ranking import rank_pairs

with step(snakemake):
    rank_pairs(
        snakemake.input.candidates,
        snakemake.output.parts,
        summary=snakemake.output.summary,
        measure=snakemake.wildcards.measure,
        contaminated=snakemake.input.contaminated,
        sample=snakemake.params.sample,
        drop=snakemake.params.drop,
        seed=snakemake.params.seed,
        **resources_of(snakemake, share=5),
    )
