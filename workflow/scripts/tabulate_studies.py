"""Write the table of the studies.

Inputs: sweeps and sts (of each model), published. Output: table.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.studies import tabulate_studies

with step(snakemake):
    files = zip(map(Path, snakemake.input.sweeps), map(Path, snakemake.input.sts), strict=True)
    tabulate_studies(
        [(*model, *own) for model, own in zip(snakemake.params.models, files, strict=True)],
        Path(snakemake.input.published),
        Path(snakemake.output.table),
    )
