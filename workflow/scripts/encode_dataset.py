"""Segment the pairs of a model into pieces and write them as training data.

Inputs: pairs, sentencepiece. Output: dataset.
"""

from adapter import step
from paraphrastic_pipeline.training.dataset import UnitVocabulary, encode_dataset

with step(snakemake):
    encode_dataset(
        snakemake.input.pairs,
        [UnitVocabulary(**unit) for unit in snakemake.params.units],
        snakemake.output.dataset,
        tables=snakemake.params.tables,
        grouped=snakemake.params.grouped,
        texts=snakemake.params.texts,
        threads=snakemake.threads,
    )
