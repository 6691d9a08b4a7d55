"""Draw the figures of a table of systems.

Input: intervals. Outputs: svg, png.
"""

from adapter import step
from paraphrastic.figures.systems import draw_systems

with step(snakemake):
    outputs = [snakemake.output.svg, snakemake.output.png]
    draw_systems(snakemake.input.intervals, outputs, title=snakemake.params.title)
