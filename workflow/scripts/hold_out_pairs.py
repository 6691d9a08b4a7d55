"""Choose the pairs that a model is not trained on.

Input: selected. Output: pairs.
"""

from adapter import step
from paraphrastic_pipeline.corpus.database import resources_of
from paraphrastic_pipeline.corpus.held_out import hold_out_pairs

with step(snakemake):
    hold_out_pairs(
        snakemake.input.selected,
        snakemake.output.pairs,
        **snakemake.params.held_out,
        languages=[pair for _, pair in snakemake.params.corpora],
        max_pairs=snakemake.params.max_pairs,
        seed=snakemake.params.seed,
        **resources_of(snakemake, share=5),
    )
