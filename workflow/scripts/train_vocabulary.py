"""Train one of a model's vocabularies.

Inputs: pairs, vectors. Output: model.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.training.vocabulary import VocabularySettings, train_vocabulary

with step(snakemake):
    train_vocabulary(
        snakemake.input.pairs,
        snakemake.output.model,
        VocabularySettings(**snakemake.params.settings),
        vectors=next(map(Path, snakemake.input.vectors), None),
    )
