"""Train one run of a Transformer's sweep.

Inputs: dataset, transformer (the files of its folder, if it is one), testsets. Outputs: the files of the
model's folder, history.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.development import opened_score_in_training
from paraphrastic_pipeline.training.beginning import TrainingInputs
from paraphrastic_pipeline.training.train import Development, Watching, train_model
from paraphrastic_pipeline.training.transformer import begin_transformer

with step(snakemake):
    params = snakemake.params
    train_model(
        TrainingInputs.of_rule(snakemake.input, params.settings, params.architecture, params.about),
        Path(snakemake.output[0]).parent,
        threads=snakemake.threads,
        begin=begin_transformer,
        development=Development(opened_score_in_training, Path(snakemake.input.testsets)),
        watching=Watching.of_model(snakemake.config, snakemake.wildcards.model),
    )
