"""Train one run of a model's sweep.

Inputs: dataset, sentencepiece, vectors (none or one). Outputs: weights, sentencepiece, config.
"""

from pathlib import Path

from adapter import fetched, step
from paraphrastic.structure import Structure
from paraphrastic.training.settings import TrainingSettings
from paraphrastic.training.train import train_model

with step(snakemake):
    fetched(snakemake, list(snakemake.input.vectors))
    first, *others = map(Path, snakemake.input.sentencepiece)
    train_model(
        Path(snakemake.input.dataset),
        first,
        Path(snakemake.output.weights).parent,
        structure=Structure.from_json(snakemake.params.structure),
        more_vocabularies=others,
        initial_vectors=next(map(Path, snakemake.input.vectors), None),
        settings=TrainingSettings(**snakemake.params.settings),
        config=snakemake.params.about,
        threads=snakemake.threads,
    )
