"""Prepare BUCC's sentences in a pair of languages.

Input: downloads (one archive). Outputs: sentences, gold.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.bitext_data import prepare_bucc

with step(snakemake):
    (archive,), (file,) = snakemake.input.downloads, snakemake.params.files
    prepare_bucc(
        Path(archive),
        Path(snakemake.output.sentences),
        Path(snakemake.output.gold),
        languages=file["languages"],
        members=file["members"],
    )
