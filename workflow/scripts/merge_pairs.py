"""Merge the selected pairs of a model's corpora: drop duplicates and contaminated pairs, cap and shuffle.

Inputs: selected, contaminated, held_out (one file or none). Outputs: pairs, counts.
"""

from adapter import step
from paraphrastic_pipeline.corpus.database import resources_of
from paraphrastic_pipeline.corpus.merge import merge_pairs

with step(snakemake):
    merge_pairs(
        snakemake.input.selected,
        snakemake.output.pairs,
        counts=snakemake.output.counts,
        contaminated=snakemake.input.contaminated,
        drop=snakemake.params.drop,
        held_out=next(iter(snakemake.input.get("held_out", [])), None),
        duplicates=snakemake.params.duplicates,
        near_duplicates=snakemake.params.near_duplicates,
        max_pairs=snakemake.params.max_pairs,
        weights=snakemake.params.weights,
        grouped=snakemake.params.grouped,
        seed=snakemake.params.seed,
        **resources_of(snakemake, share=5),
    )
