"""Draw the speeds of all systems.

Input: table. Outputs: svg, png.
"""

from adapter import step
from paraphrastic.figures.speed import draw_speed

with step(snakemake):
    draw_speed(snakemake.input.table, [snakemake.output.svg, snakemake.output.png])
