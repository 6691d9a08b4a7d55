"""Render a table for reading and for a paper.

Inputs: table, intervals (only for a table of systems). Outputs: markdown, latex.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.report.render import render_table

with step(snakemake):
    render_table(
        Path(snakemake.input.table),
        Path(snakemake.output.markdown),
        Path(snakemake.output.latex),
        caption=snakemake.params.caption,
        intervals=next(map(Path, snakemake.input.intervals), None),
    )
