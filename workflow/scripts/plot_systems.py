"""Draw the figures of a table of systems.

Input: intervals. Outputs: svg, png.
"""

from adapter import step
from paraphrastic_pipeline.report.figures.systems import plot_systems

with step(snakemake):
    outputs = [snakemake.output.svg, snakemake.output.png]
    plot_systems(snakemake.input.intervals, outputs, title=snakemake.params.title)
