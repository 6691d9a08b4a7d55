"""Draw the speeds of all systems.

Input: table. Outputs: svg, png.
"""

from adapter import step
from paraphrastic_pipeline.report.figures.systems import plot_speed

with step(snakemake):
    plot_speed(snakemake.input.table, [snakemake.output.svg, snakemake.output.png])
