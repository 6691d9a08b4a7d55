"""Write the table of the training pairs that are in test sets.

Input: counts (of all models and corpora). Output: table.
"""

from adapter import step
from paraphrastic_pipeline.corpus.corpus_tables import tabulate_contamination

with step(snakemake):
    tabulate_contamination(
        list(zip(snakemake.params.corpora, snakemake.input.counts, strict=True)),
        snakemake.output.table,
        drop=snakemake.params.drop,
    )
