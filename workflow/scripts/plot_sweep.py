"""Draw the scores of the sweeps.

Input: table. Outputs: svg, png.
"""

from adapter import step
from paraphrastic_pipeline.report.figures.training import plot_sweep

with step(snakemake):
    plot_sweep(snakemake.input.table, [snakemake.output.svg, snakemake.output.png])
