"""Evaluate a model on STS 2012-2016.

Inputs: model (the files of its folder), testsets, official. Output: result.
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.sts import evaluate_sts
from paraphrastic.model import load_model

with step(snakemake):
    model = load_model(Path(snakemake.input.model[0]).parent)
    evaluate_sts(
        model,
        Path(snakemake.input.testsets),
        Path(snakemake.output.result),
        official=Path(snakemake.input.official),
        source="measured",
        bootstrap_samples=snakemake.params.bootstrap_samples,
    )
