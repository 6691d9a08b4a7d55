"""Cut the pairs of a model into the tokens of its Transformer, and write them as training data.

Inputs: pairs, transformer (the files of its folder, if it is one). Output: dataset.
"""

from pathlib import Path

from adapter import step
from paraphrastic.model.architecture import Transformer
from paraphrastic_pipeline.training.transformer import tokenize_pairs

with step(snakemake):
    tokenize_pairs(
        Path(snakemake.input.pairs),
        Transformer(**snakemake.params.architecture["transformer"]),
        Path(snakemake.output.dataset),
        lowercase=snakemake.params.lowercase,
        grouped=snakemake.params.grouped,
        texts=snakemake.params.texts,
    )
