"""Train one run of a model's sweep.

Inputs: dataset, sentencepiece, vectors (none or one), testsets. Outputs: weights, sentencepiece, config,
history.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.development import score_in_training
from paraphrastic_pipeline.training.beginning import TrainingInputs
from paraphrastic_pipeline.training.train import Development, train_model

with step(snakemake):
    params = (snakemake.params[name] for name in ("settings", "architecture", "about"))
    # These are not parameters of the rule, since the outputs do not depend on them.
    watching = snakemake.config["definitions"][snakemake.wildcards.model]["training"]
    train_model(
        TrainingInputs.of_rule(snakemake.input, *params),
        Path(snakemake.output.weights).parent,
        threads=snakemake.threads,
        development=Development(score_in_training, Path(snakemake.input.testsets)),
        checkpoint_minutes=watching["checkpoint_minutes"],
        tensorboard=watching["tensorboard"],
    )
