"""Write the page of all results.

Inputs: tables, intervals, figures, provenance, in the folders in which the page expects them. Output: page.
"""

from adapter import step
from paraphrastic_pipeline.report.page import write_report

with step(snakemake):
    write_report(
        "results",
        snakemake.output.page,
        captions=snakemake.params.captions,
        figures=snakemake.params.figures,
    )
