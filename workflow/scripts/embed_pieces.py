"""Embed the pieces of a model's vocabularies with the teacher from which its embeddings begin.

Inputs: dataset, sentencepiece, system (its files; none if it has only a name). Output: vectors.
"""

from pathlib import Path

from adapter import step
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.training.teacher import embed_pieces

with step(snakemake):
    embed_pieces(
        Path(snakemake.input.dataset),
        [Path(model) for model in snakemake.input.sentencepiece],
        Path(snakemake.output.vectors),
        encoder=open_encoder(snakemake.params.system, threads=snakemake.threads),
    )
