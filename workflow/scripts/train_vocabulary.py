"""Train the vocabulary of a model.

Input: pairs. Output: model.
"""

from adapter import step
from paraphrastic.vocabulary import train_vocabulary

with step(snakemake):
    train_vocabulary(
        snakemake.input.pairs,
        snakemake.output.model,
        unit=snakemake.params.unit,
        size=snakemake.params.size,
        character_coverage=snakemake.params.character_coverage,
        max_sentences=snakemake.params.max_sentences,
        hard_limit=snakemake.params.hard_limit,
        seed=snakemake.params.seed,
    )
