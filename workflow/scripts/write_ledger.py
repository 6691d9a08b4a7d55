"""Write every published figure beside the measured one.

Inputs: published, intervals, tables. Output: ledger.
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.ledger import Reproduction, write_ledger

with step(snakemake):
    write_ledger(
        [Path(path) for path in snakemake.input.published],
        {Path(path).stem: Path(path) for path in snakemake.input.intervals},
        {Path(path).stem: Path(path) for path in snakemake.input.tables},
        Reproduction(
            snakemake.params.published_as, snakemake.params.config_digests, snakemake.params.gathered
        ),
        Path(snakemake.output.ledger),
        off=snakemake.params.off,
    )
