"""Measure the share of a model's English pieces that the other language has, too.

Inputs: dataset, sentencepiece. Output: overlap.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.piece_overlap import measure_overlap

with step(snakemake):
    measure_overlap(
        Path(snakemake.input.dataset),
        [Path(path) for path in snakemake.input.sentencepiece],
        Path(snakemake.output.overlap),
        languages=snakemake.params.languages,
    )
