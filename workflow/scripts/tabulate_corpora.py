"""Write the table of the corpora and of the pairs that are used.

Inputs: statistics, samples, merged (counts), documents (for IDF). Output: table.
"""

from adapter import step
from paraphrastic_pipeline.corpus.corpus_tables import tabulate_corpora

with step(snakemake):
    corpora = snakemake.params.corpora
    tabulate_corpora(
        list(zip(corpora, snakemake.input.statistics, snakemake.input.samples, strict=True)),
        dict(zip(snakemake.params.models, snakemake.input.merged, strict=True)),
        snakemake.output.table,
        documents=snakemake.input.documents,
        languages=snakemake.params.languages,
        max_bytes=snakemake.params.max_bytes,
    )
