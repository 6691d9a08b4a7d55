"""Train one run of a Transformer's sweep.

Inputs: dataset, transformer (the files of its folder, if it is one), held_out, testsets. Outputs: the files
of the model's folder, history.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.development import DevelopmentData
from paraphrastic_pipeline.training.initialization import TrainingInputs
from paraphrastic_pipeline.training.train import train_model
from paraphrastic_pipeline.training.transformer import initialize_transformer

with step(snakemake):
    params, watching = snakemake.params, snakemake.params.watching
    train_model(
        TrainingInputs.of_rule(snakemake.input, params.settings, params.architecture, params.about),
        Path(snakemake.output[0]).parent,
        threads=snakemake.threads,
        initialize=initialize_transformer,
        development=DevelopmentData.of_rule(snakemake.input, watching["choose_by"]).in_training(),
        checkpoint_minutes=watching["checkpoint_minutes"],
    )
