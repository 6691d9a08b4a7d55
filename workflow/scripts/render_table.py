"""Render a table for reading and for a paper.

Input: table. Outputs: markdown, latex.
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.tables import render_table

with step(snakemake):
    render_table(
        Path(snakemake.input.table),
        Path(snakemake.output.markdown),
        Path(snakemake.output.latex),
        caption=snakemake.params.caption,
        bold_best=snakemake.params.bold_best,
    )
