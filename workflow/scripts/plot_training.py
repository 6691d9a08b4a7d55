"""Draw the loss and the development scores of a run.

Input: history. Outputs: svg, png.
"""

from adapter import step
from paraphrastic_pipeline.report.figures.training import plot_training

with step(snakemake):
    outputs = [snakemake.output.svg, snakemake.output.png]
    plot_training(snakemake.input.history, outputs, title=snakemake.params.title)
