"""Draw what models learn from each part of a ranked corpus.

Input: table. Outputs: svg, png.
"""

from adapter import step
from paraphrastic_pipeline.report.figures.studies import plot_filter_study

with step(snakemake):
    plot_filter_study(snakemake.input.table, [snakemake.output.svg, snakemake.output.png])
