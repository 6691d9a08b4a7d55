"""Draw what the filters and the merge did to the pairs.

Inputs: funnel, overlap. Outputs: svg, png.
"""

from adapter import step
from paraphrastic_pipeline.report.figures.funnel import plot_funnel

with step(snakemake):
    plot_funnel(snakemake.input.funnel, snakemake.input.overlap, [snakemake.output.svg, snakemake.output.png])
