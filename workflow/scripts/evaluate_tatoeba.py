"""Evaluate a system on Tatoeba.

Inputs: encoder (its files), testsets, official. Output: result.
"""

from pathlib import Path

from adapter import step
from paraphrastic.encoders import open_encoder
from paraphrastic.evaluation.tatoeba import evaluate_tatoeba

with step(snakemake):
    evaluate_tatoeba(
        open_encoder(snakemake.params.encoder),
        dict(zip(snakemake.params.languages, map(Path, snakemake.input.testsets), strict=True)),
        Path(snakemake.output.result),
        official=Path(snakemake.input.official),
        **snakemake.params.evaluation,
    )
