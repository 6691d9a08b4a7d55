"""Measure how many sentences systems embed per second.

Inputs: systems (their files), corpora. Output: speeds.
"""

from adapter import step
from paraphrastic_pipeline.evaluation.speed import measure_speed

with step(snakemake):
    measure_speed(
        snakemake.params.systems,
        list(zip(snakemake.input.corpora, snakemake.params.columns, strict=True)),
        snakemake.output.speeds,
        cores=snakemake.threads,
        **snakemake.params.settings,
    )
