"""Segment the pairs of a model into pieces and write them as training data.

Inputs: pairs, sentencepiece. Output: dataset.
"""

from adapter import step
from paraphrastic.dataset import encode_dataset

with step(snakemake):
    encode_dataset(
        snakemake.input.pairs,
        snakemake.input.sentencepiece,
        snakemake.output.dataset,
        unit=snakemake.params.unit,
        max_pieces=snakemake.params.max_pieces,
        threads=snakemake.threads,
    )
