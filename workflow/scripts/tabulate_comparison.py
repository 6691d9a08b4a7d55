"""Write the table of the compared trainings.

Inputs: static_embedding, paper, own (their curves). Output: table.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.comparison import tabulate_comparison

with step(snakemake):
    curves = {name: Path(path) for name, path in snakemake.input.items()}
    tabulate_comparison(curves, Path(snakemake.output.table))
