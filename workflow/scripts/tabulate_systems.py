"""Write a table of systems.

Inputs: results, published (none or one). Outputs: table, intervals.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.system_tables import tabulate_systems

with step(snakemake):
    tabulate_systems(
        {name: [Path(path) for path in paths] for name, paths in snakemake.params.systems.items()},
        snakemake.wildcards.table,
        next(map(Path, snakemake.input.published), None),
        Path(snakemake.output.table),
        Path(snakemake.output.intervals),
        gather=snakemake.params.gather,
    )
