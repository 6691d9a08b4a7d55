"""Average the trainings of a run.

Inputs: models, folders (their other files). Outputs: weights, sentencepiece, config.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.training.model_selection import average_runs

with step(snakemake):
    average_runs(
        [Path(weights).parent for weights in snakemake.input.models], Path(snakemake.output.weights).parent
    )
