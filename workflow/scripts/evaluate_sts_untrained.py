"""Evaluate the model that training starts from on STS 2012-2016.

Inputs: dataset, sentencepiece, testsets, official. Output: result.
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.sts import evaluate_sts
from paraphrastic.training.settings import TrainingSettings
from paraphrastic.training.train import untrained_model

with step(snakemake):
    files = Path(snakemake.input.dataset), Path(snakemake.input.sentencepiece)
    settings = TrainingSettings(**snakemake.params.settings)
    model = untrained_model(*files, settings=settings, config=snakemake.params.about)
    evaluate_sts(
        model,
        Path(snakemake.input.testsets),
        Path(snakemake.output.result),
        official=Path(snakemake.input.official),
        source="untrained",
        bootstrap_samples=snakemake.params.bootstrap_samples,
    )
