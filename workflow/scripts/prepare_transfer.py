"""Prepare the data of SentEval or of the Polish tasks.

Input: downloads. Output: testsets.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.transfer_data import prepare_transfer

with step(snakemake):
    files = {name: [Path(path) for path in paths] for name, paths in snakemake.params.files.items()}
    prepare_transfer(snakemake.wildcards.suite, files, Path(snakemake.output.testsets))
