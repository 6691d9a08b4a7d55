"""Train one run of a Transformer's sweep.

Inputs: dataset, transformer (the files of its folder, if it is one), testsets. Outputs: the files of the
model's folder, history.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.development import opened_score_in_training
from paraphrastic_pipeline.training.beginning import TrainingInputs
from paraphrastic_pipeline.training.train import Development, train_model
from paraphrastic_pipeline.training.transformer import begin_transformer

with step(snakemake):
    params = (snakemake.params[name] for name in ("settings", "architecture", "about"))
    # These are not parameters of the rule, since the outputs do not depend on them.
    watching = snakemake.config["definitions"][snakemake.wildcards.model]["training"]
    train_model(
        TrainingInputs.of_rule(snakemake.input, *params),
        Path(snakemake.output[0]).parent,
        threads=snakemake.threads,
        begin=begin_transformer,
        development=Development(opened_score_in_training, Path(snakemake.input.testsets)),
        checkpoint_minutes=watching["checkpoint_minutes"],
        tensorboard=watching["tensorboard"],
    )
