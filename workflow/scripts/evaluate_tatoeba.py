"""Evaluate a system on Tatoeba.

Inputs: encoder (its files), testsets, official. Outputs: result, samples (beside it).
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.bitext import evaluate_tatoeba
from paraphrastic.systems.open import open_system

with step(snakemake):
    evaluate_tatoeba(
        open_system(snakemake.params.encoder),
        dict(zip(snakemake.params.languages, map(Path, snakemake.input.testsets), strict=True)),
        Path(snakemake.output.result),
        official=Path(snakemake.input.official),
        **snakemake.params.evaluation,
    )
