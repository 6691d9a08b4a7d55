"""Evaluate the model that training starts from on STS 2012-2016.

Inputs: dataset, sentencepiece, vectors (none or one), testsets, official. Output: result.
"""

from pathlib import Path

from adapter import step, training_inputs
from paraphrastic.evaluation.sts import evaluate_sts
from paraphrastic.training.train import untrained_model

with step(snakemake):
    evaluate_sts(
        untrained_model(**training_inputs(snakemake)),
        Path(snakemake.input.testsets),
        Path(snakemake.output.result),
        official=Path(snakemake.input.official),
        source="untrained",
        bootstrap_samples=snakemake.params.bootstrap_samples,
    )
