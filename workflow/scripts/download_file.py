"""Fetch one file of the registry.

Output: resources/downloads/{dataset}/{file}, and its digest in a lock file beside it.
"""

from adapter import fetched, step

with step(snakemake):
    fetched(snakemake, snakemake.output)
