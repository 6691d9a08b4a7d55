"""Choose the pairs that a model is not trained on.

Input: selected. Outputs: pairs; table and sentences, as text.
"""

from adapter import step
from paraphrastic_pipeline.corpus.database import resources_of
from paraphrastic_pipeline.corpus.held_out import hold_out_pairs

with step(snakemake):
    hold_out_pairs(
        snakemake.input.selected,
        snakemake.output.pairs,
        table=snakemake.output.table,
        sentences=snakemake.output.sentences,
        **snakemake.params.held_out,
        corpora=snakemake.params.corpora,
        texts=snakemake.params.texts,
        seed=snakemake.params.seed,
        **resources_of(snakemake),
    )
