"""Choose the best run of a model's sweep.

Inputs: scores, models (the files of the runs). Outputs: the files of the model's folder.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.training.model_selection import choose_model

with step(snakemake):
    choose_model([Path(score) for score in snakemake.input.scores], Path(snakemake.output.sweep).parent)
