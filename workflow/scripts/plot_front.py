"""Draw all systems by quality, speed and size.

Input: table. Outputs: svg, png.
"""

from adapter import step
from paraphrastic_pipeline.report.figures.front import plot_front

with step(snakemake):
    plot_front(snakemake.input.table, [snakemake.output.svg, snakemake.output.png])
