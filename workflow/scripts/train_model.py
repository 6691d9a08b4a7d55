"""Train one run of a model's sweep.

Inputs: dataset, sentencepiece. Outputs: weights, sentencepiece, config.
"""

from pathlib import Path

from adapter import step
from paraphrastic.training.settings import TrainingSettings
from paraphrastic.training.train import train_model

with step(snakemake):
    train_model(
        Path(snakemake.input.dataset),
        Path(snakemake.input.sentencepiece),
        Path(snakemake.output.weights).parent,
        settings=TrainingSettings(**snakemake.params.settings),
        config=snakemake.params.about,
        threads=snakemake.threads,
    )
