"""Rank the pairs of a model's corpora, cut them into parts and sample each part.

Inputs: candidates, contaminated. Outputs: parts, summary.
"""

from adapter import step
from paraphrastic.corpus.ranking import rank_pairs

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
        # DuckDB takes more than its limit, and Python and Arrow need memory, too.
        memory_mb=snakemake.resources.mem_mb // 5,
        threads=snakemake.threads,
        temporary=snakemake.resources.tmpdir,
    )
