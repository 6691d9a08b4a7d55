"""Measure quality, speed and size of systems, small versions of models, and the models in the package.

Inputs: systems (their files), corpora, testsets, official. Output: front.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.front import Protocol, measure_front

with step(snakemake):
    files = Path(snakemake.input.testsets), Path(snakemake.input.official)
    measure_front(
        snakemake.params.systems,
        list(zip(snakemake.input.corpora, snakemake.params.columns, strict=True)),
        snakemake.output.front,
        Protocol(*files, **snakemake.params.protocol),
        versions=snakemake.params.versions,
    )
