"""Write with which code, configuration and packages the results were made.

Inputs: any results, after which it is written. Output: provenance.
"""

from adapter import step
from paraphrastic_pipeline.report.provenance import write_provenance

with step(snakemake):
    write_provenance(
        snakemake.output.provenance, snakemake.output.sums, files=snakemake.input, config=snakemake.config
    )
