"""Fetch one file of the registry.

Output: file.
"""

from adapter import step
from paraphrastic_pipeline.registry.datasets import RemoteFile
from paraphrastic_pipeline.registry.download import fetch

with step(snakemake):
    fetch(RemoteFile(**snakemake.params.file), snakemake.output.file, mirror=snakemake.params.mirror)
