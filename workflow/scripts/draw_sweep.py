"""Draw the scores of the sweeps.

Input: table. Outputs: svg, png.
"""

from adapter import step
from paraphrastic.figures.sweep import draw_sweep

with step(snakemake):
    draw_sweep(snakemake.input.table, [snakemake.output.svg, snakemake.output.png])
