"""Draw the scores of the compared trainings over time and over pairs.

Inputs: static_embedding, paper, own (their curves). Outputs: svg, png.
"""

from adapter import step
from paraphrastic_pipeline.report.figures.comparison import plot_comparison

with step(snakemake):
    plot_comparison(dict(snakemake.input.items()), [snakemake.output.svg, snakemake.output.png])
