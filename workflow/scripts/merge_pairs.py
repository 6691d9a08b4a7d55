"""Merge the selected pairs of a model's corpora: drop duplicates and contaminated pairs, cap and shuffle.

Inputs: selected, contaminated. Outputs: pairs, counts.
"""

from adapter import step
from paraphrastic.corpus.merge import merge_pairs

with step(snakemake):
    merge_pairs(
        snakemake.input.selected,
        snakemake.output.pairs,
        counts=snakemake.output.counts,
        contaminated=snakemake.input.contaminated,
        drop=snakemake.params.drop,
        duplicates=snakemake.params.duplicates,
        near_duplicates=snakemake.params.near_duplicates,
        max_pairs=snakemake.params.max_pairs,
        seed=snakemake.params.seed,
        # DuckDB takes more than its limit, and Python and Arrow need memory, too.
        memory_mb=snakemake.resources.mem_mb // 5,
        threads=snakemake.threads,
        temporary=snakemake.resources.tmpdir,
    )
