"""Evaluate the model that training starts from on STS 2012-2016.

Inputs: dataset, sentencepiece, vectors (none or one), testsets, official. Output: result.
"""

from pathlib import Path

from adapter import fetched, step
from paraphrastic.evaluation.sts import evaluate_sts
from paraphrastic.structure import Structure
from paraphrastic.training.settings import TrainingSettings
from paraphrastic.training.train import untrained_model

with step(snakemake):
    fetched(snakemake, list(snakemake.input.vectors))
    first, *others = map(Path, snakemake.input.sentencepiece)
    model = untrained_model(
        Path(snakemake.input.dataset),
        first,
        structure=Structure.from_json(snakemake.params.structure),
        more_vocabularies=others,
        initial_vectors=next(map(Path, snakemake.input.vectors), None),
        settings=TrainingSettings(**snakemake.params.settings),
        config=snakemake.params.about,
    )
    evaluate_sts(
        model,
        Path(snakemake.input.testsets),
        Path(snakemake.output.result),
        official=Path(snakemake.input.official),
        source="untrained",
        bootstrap_samples=snakemake.params.bootstrap_samples,
    )
