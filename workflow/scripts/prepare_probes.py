"""Prepare the probes.

Input: downloads (one table). Output: testsets.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.probes import prepare_probes

with step(snakemake):
    prepare_probes(Path(snakemake.input.downloads[0]), Path(snakemake.output.testsets))
