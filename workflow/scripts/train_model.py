"""Train one run of a model's sweep.

Inputs: dataset, sentencepiece, vectors (none or one). Outputs: weights, sentencepiece, config.
"""

from pathlib import Path

from adapter import step, training_inputs
from paraphrastic.training.train import train_model

with step(snakemake):
    train_model(
        output=Path(snakemake.output.weights).parent,
        **training_inputs(snakemake),
        threads=snakemake.threads,
    )
