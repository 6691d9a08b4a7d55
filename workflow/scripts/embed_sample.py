"""Embed a sample of a model's sentences with the teacher from which its embeddings begin.

Inputs: pairs, system (its files; none if it has only a name). Output: vectors.
"""

from pathlib import Path

from adapter import step
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.training.teacher import embed_sample

with step(snakemake):
    params = snakemake.params
    embed_sample(
        snakemake.input.pairs,
        Path(snakemake.output.vectors),
        encoder=open_encoder(params.system, threads=snakemake.threads),
        languages=params.languages,
        known=params.known,
        texts=params.texts,
        sentences=params.sentences,
    )
