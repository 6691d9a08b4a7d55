"""Write a record of where the results come from.

Inputs: any results. Output: provenance.
"""

from adapter import step
from paraphrastic_pipeline.report.provenance import write_provenance

with step(snakemake):
    write_provenance(
        list(snakemake.input), snakemake.output.provenance, logs="results/logs", config=snakemake.config
    )
