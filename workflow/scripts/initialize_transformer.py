"""Write the Transformer that training starts from.

Inputs: dataset, transformer (the files of its folder, if it is one). Outputs: the files of the
model's folder.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.training.initialization import TrainingInputs, untrained_model
from paraphrastic_pipeline.training.transformer import initialize_transformer

with step(snakemake):
    params = snakemake.params
    inputs = TrainingInputs.of_rule(snakemake.input, params.settings, params.architecture, params.about)
    model = untrained_model(inputs, initialize_transformer)
    model.write(Path(snakemake.output[0]).parent)
