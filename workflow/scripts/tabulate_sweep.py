"""Write one table of the sweeps of all models.

Input: sweeps (in the order of the parameter `models`). Output: table.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.training.model_selection import tabulate_sweep

with step(snakemake):
    sweeps = map(Path, snakemake.input.sweeps)
    tabulate_sweep(dict(zip(snakemake.params.models, sweeps, strict=True)), Path(snakemake.output.table))
