"""Draw the study of languages.

Input: table. Outputs: svg, png.
"""

from adapter import step
from paraphrastic_pipeline.report.figures.studies import plot_language_choice

with step(snakemake):
    plot_language_choice(snakemake.input.table, [snakemake.output.svg, snakemake.output.png])
