"""Write the model that training starts from.

Inputs: dataset, sentencepiece, vectors (none or one). Outputs: the files of its folder.
"""

from pathlib import Path

from adapter import step
from paraphrastic.training.train import training_inputs, untrained_model

with step(snakemake):
    files = [snakemake.input[name] for name in ("dataset", "sentencepiece", "vectors")]
    about = {name: snakemake.params[name] for name in ("settings", "architecture", "about")}
    untrained_model(**training_inputs(*files, **about)).write(Path(snakemake.output[0]).parent)
