"""Evaluate a system on BUCC.

Inputs: encoder (its files), sentences and gold of each pair, official. Output: result.
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.bitext import evaluate_bucc
from paraphrastic.systems.open import open_system

with step(snakemake):
    paths = zip(map(Path, snakemake.input.sentences), map(Path, snakemake.input.gold), strict=True)
    evaluate_bucc(
        open_system(snakemake.params.encoder, threads=snakemake.threads),
        dict(zip(snakemake.params.pairs, paths, strict=True)),
        Path(snakemake.output.result),
        official=Path(snakemake.input.official),
        threads=snakemake.threads,
        **snakemake.params.evaluation,
    )
