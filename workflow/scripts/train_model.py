"""Train one run of a model's sweep.

Inputs: dataset, sentencepiece, vectors (none or one), testsets. Outputs: weights, sentencepiece, config,
history.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.development import score_in_training
from paraphrastic_pipeline.training.beginning import TrainingInputs
from paraphrastic_pipeline.training.train import Development, Watching, train_model

with step(snakemake):
    params = snakemake.params
    train_model(
        TrainingInputs.of_rule(snakemake.input, params.settings, params.architecture, params.about),
        Path(snakemake.output.weights).parent,
        threads=snakemake.threads,
        development=Development(score_in_training, Path(snakemake.input.testsets)),
        watching=Watching.of_model(snakemake.config, snakemake.wildcards.model),
    )
