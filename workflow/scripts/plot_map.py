"""Draw the map of sentences.

Input: table. Outputs: svg, png.
"""

from adapter import step
from paraphrastic_pipeline.report.figures.map import plot_map

with step(snakemake):
    plot_map(snakemake.input.table, [snakemake.output.svg, snakemake.output.png])
