"""Gather the STS test sets.

Input: downloads (the archive). Output: testsets.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.sts_data import prepare_sts

with step(snakemake):
    prepare_sts(Path(snakemake.input.downloads[0]), Path(snakemake.output.testsets))
