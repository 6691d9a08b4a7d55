"""Write a table of every published figure beside the measured one.

Inputs: published, intervals, tables. Output: ledger.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.ledger import Run, write_ledger

with step(snakemake):
    write_ledger(
        [Path(path) for path in snakemake.input.published],
        {Path(path).stem: Path(path) for path in snakemake.input.intervals},
        {Path(path).stem: Path(path) for path in snakemake.input.tables},
        Path(snakemake.output.ledger),
        run=Run(**snakemake.params.run),
    )
