"""Write the model that training starts from.

Inputs: dataset, sentencepiece, vectors (none or one). Outputs: the files of its folder.
"""

from pathlib import Path

from adapter import step, training_inputs
from paraphrastic.training.train import untrained_model

with step(snakemake):
    untrained_model(**training_inputs(snakemake)).write(Path(snakemake.output[0]).parent)
