"""Write the table of negatives that training would choose with a model.

Inputs: model (its files), pairs. Output: table.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.training.negatives import tabulate_negatives

with step(snakemake):
    tabulate_negatives(
        Path(snakemake.input.model[0]).parent,
        snakemake.input.pairs,
        snakemake.output.table,
        **snakemake.params.negatives,
    )
