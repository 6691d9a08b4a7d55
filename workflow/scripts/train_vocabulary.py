"""Train one of a model's vocabularies.

Input: pairs. Output: model.
"""

from adapter import step
from paraphrastic.training.vocabulary import train_vocabulary

with step(snakemake):
    train_vocabulary(
        snakemake.input.pairs,
        snakemake.output.model,
        **snakemake.params.settings,
        seed=snakemake.params.seed,
    )
