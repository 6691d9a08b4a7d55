"""Train StaticEmbedding of sentence-transformers, and score it on STS 2012-2016 in the course of training.

Inputs: pairs, sentencepiece (one), testsets. Output: curve.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.static_embedding import train_static_embedding

with step(snakemake):
    train_static_embedding(
        Path(snakemake.input.pairs),
        Path(snakemake.input.sentencepiece[0]),
        Path(snakemake.input.testsets),
        Path(snakemake.output.curve),
        config=snakemake.params.about,
        threads=snakemake.threads,
        **snakemake.params.settings,
    )
