"""Fit the tables with which a model begins to the vectors of its teacher.

Inputs: dataset, pieces, sample. Output: tables.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.training.teacher_tables import fit_tables

with step(snakemake):
    fit_tables(
        Path(snakemake.input.dataset),
        pieces=Path(snakemake.input.pieces),
        sample=Path(snakemake.input.sample),
        output=Path(snakemake.output.tables),
        threads=snakemake.threads,
    )
