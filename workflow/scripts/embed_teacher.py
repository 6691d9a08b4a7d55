"""Embed the pairs of a model with the system that it is to learn from.

Inputs: pairs, system (its files; none if it has only a name). Output: vectors.
"""

from pathlib import Path

from adapter import step
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.training.teacher import embed_teacher

with step(snakemake):
    languages = snakemake.params.languages
    embed_teacher(
        snakemake.input.pairs,
        Path(snakemake.output.vectors),
        encoder=open_encoder(snakemake.params.system, threads=snakemake.threads),
        languages=(languages[0], languages[-1]),
    )
