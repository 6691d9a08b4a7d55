"""Evaluate a system on SentEval or on the Polish tasks.

Inputs: encoder (its files), testsets, official. Output: result.
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.transfer import evaluate_transfer
from paraphrastic.systems.open import open_system

with step(snakemake):
    evaluate_transfer(
        open_system(snakemake.params.encoder, threads=snakemake.threads),
        Path(snakemake.input.testsets),
        Path(snakemake.output.result),
        official=Path(snakemake.input.official),
        threads=snakemake.threads,
        **snakemake.params.evaluation,
    )
