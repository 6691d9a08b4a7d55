"""Fetch one file of the registry.

Outputs: file, lock (its digest).
"""

from adapter import step
from paraphrastic.registry.datasets import RemoteFile
from paraphrastic.registry.download import fetch

with step(snakemake):
    fetch(RemoteFile(**snakemake.params.file), snakemake.output.file, mirror=snakemake.config["mirror"])
