"""Sample paraphrases among translations of the same sentences.

Input: measured. Outputs: pairs, counts, examples (for reading).
"""

from adapter import step
from paraphrastic.corpus.mined_paraphrases import sample_paraphrases

with step(snakemake):
    sample_paraphrases(
        snakemake.input.measured,
        snakemake.output.pairs,
        counts=snakemake.output.counts,
        examples=snakemake.output.examples,
        min_similarity=snakemake.params.min_similarity,
        seed=snakemake.params.seed,
        # DuckDB takes more than its limit, and Python and Arrow need memory, too.
        memory_mb=snakemake.resources.mem_mb // 5,
        threads=snakemake.threads,
        temporary=snakemake.resources.tmpdir,
    )
