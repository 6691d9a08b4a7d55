"""Train a language-identification model on labelled text.

Input: downloads (the labelled text). Output: model.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.corpus.language_id import train_language_id

with step(snakemake):
    train_language_id(
        Path(snakemake.input.downloads[0]),
        Path(snakemake.output.model),
        seed=snakemake.params.seed,
    )
