"""Write the table of the filter study.

Inputs: summaries (of each ranking), development and sts (of each part), published. Output: table.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.studies import tabulate_filter_study

with step(snakemake):
    tabulate_filter_study(
        [Path(summary) for summary in snakemake.input.summaries],
        [Path(score) for score in snakemake.input.development],
        [Path(result) for result in snakemake.input.sts],
        Path(snakemake.input.published),
        Path(snakemake.output.table),
    )
