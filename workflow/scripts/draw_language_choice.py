"""Draw the study of languages.

Input: table. Outputs: svg, png.
"""

from adapter import step
from paraphrastic.figures.language_choice import draw_language_choice

with step(snakemake):
    draw_language_choice(snakemake.input.table, [snakemake.output.svg, snakemake.output.png])
