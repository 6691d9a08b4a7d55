"""Write the table of how much systems differ from data set to data set.

Inputs: results, samples (beside them), published. Output: table.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.studies import tabulate_differences

with step(snakemake):
    results = ([Path(result)] for result in snakemake.input.results)
    tabulate_differences(
        dict(zip(snakemake.params.systems, results, strict=True)),
        Path(snakemake.input.published),
        Path(snakemake.output.table),
    )
