"""Tabulate quality, speed and size of all systems.

Inputs: front, published. Output: table.
"""

from adapter import step
from paraphrastic_pipeline.evaluation.front import tabulate_front

with step(snakemake):
    tabulate_front(snakemake.input.front, snakemake.input.published, snakemake.output.table)
