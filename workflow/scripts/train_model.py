"""Train one run of a model's sweep.

Inputs: dataset, sentencepiece, vectors (none or one), held_out, testsets. Outputs: weights, sentencepiece,
config, history.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.development import DevelopmentData
from paraphrastic_pipeline.training.initialization import TrainingInputs
from paraphrastic_pipeline.training.train import train_model

with step(snakemake):
    params, watching = snakemake.params, snakemake.params.watching
    train_model(
        TrainingInputs.of_rule(snakemake.input, params.settings, params.architecture, params.about),
        Path(snakemake.output.weights).parent,
        threads=snakemake.threads,
        development=DevelopmentData.of_rule(snakemake.input, watching["choose_by"]).in_training(),
        checkpoint_minutes=watching["checkpoint_minutes"],
    )
