"""Write the table of measured and published speeds.

Inputs: speeds, published. Output: table.
"""

from adapter import step
from paraphrastic_pipeline.evaluation.speed import tabulate_speed

with step(snakemake):
    tabulate_speed(snakemake.input.speeds, snakemake.input.published, snakemake.output.table)
