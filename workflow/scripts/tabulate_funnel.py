"""Write the tables of what the filters and the merge did to the pairs.

Inputs: selected, merged (counts). Outputs: funnel, overlap.
"""

from adapter import step
from paraphrastic_pipeline.corpus.corpus_tables import tabulate_funnel

with step(snakemake):
    tabulate_funnel(
        list(zip(snakemake.params.corpora, snakemake.input.selected, strict=True)),
        dict(zip(snakemake.params.models, snakemake.input.merged, strict=True)),
        snakemake.output.funnel,
        snakemake.output.overlap,
    )
