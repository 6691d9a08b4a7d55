"""Write the model that training starts from.

Inputs: dataset, sentencepiece, vectors (none or one). Outputs: the files of the model's folder.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.training.initialization import TrainingInputs, untrained_model

with step(snakemake):
    params = snakemake.params
    inputs = TrainingInputs.of_rule(snakemake.input, params.settings, params.architecture, params.about)
    model = untrained_model(inputs)
    model.write(Path(snakemake.output[0]).parent)
