"""Train one run of a model's sweep.

Inputs: dataset, sentencepiece, vectors (none or one), testsets. Outputs: weights, sentencepiece, config,
history.
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.development import score_in_training
from paraphrastic.training.train import Development, train_model, training_inputs

with step(snakemake):
    files = [snakemake.input[name] for name in ("dataset", "sentencepiece", "vectors")]
    about = {name: snakemake.params[name] for name in ("settings", "architecture", "about")}
    # No parameters of the rule, since nothing in the outputs depends on them.
    watching = snakemake.config["definitions"][snakemake.wildcards.model]["training"]
    train_model(
        output=Path(snakemake.output.weights).parent,
        **training_inputs(*files, **about),
        threads=snakemake.threads,
        development=Development(score_in_training, Path(snakemake.input.testsets)),
        checkpoint_minutes=watching["checkpoint_minutes"],
        tensorboard=watching["tensorboard"],
    )
