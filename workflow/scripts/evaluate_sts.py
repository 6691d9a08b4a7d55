"""Evaluate a system on STS 2012-2016, on tracks of 2017 or on STS Benchmark.

Inputs: encoder (its files), testsets, official. Outputs: result, samples (beside it).
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.sts import evaluate_sts
from paraphrastic.systems.open import open_system

with step(snakemake):
    evaluate_sts(
        open_system(snakemake.params.encoder),
        Path(snakemake.input.testsets),
        Path(snakemake.output.result),
        official=Path(snakemake.input.official),
        **snakemake.params.evaluation,
    )
