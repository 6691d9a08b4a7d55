"""Write the tables of STS 2012-2016.

Inputs: results, published. Outputs: pearson, spearman.
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.tables import tabulate_sts

with step(snakemake):
    results = [Path(result) for result in snakemake.input.results]
    tabulate_sts(
        results, Path(snakemake.input.published), Path(snakemake.output.pearson), statistic="pearson"
    )
    tabulate_sts(results, None, Path(snakemake.output.spearman), statistic="spearman")
