"""Look at what a model has learned: neighbours, pieces, a map of sentences, and what filters dropped.

Inputs: after and before (files of the model), selected, dropped. Outputs: neighbours, pieces, map, dropped.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.report.inspection import inspect_model

with step(snakemake):
    files, params = snakemake.input, snakemake.params
    inspect_model(
        Path(files.after[0]).parent,
        Path(files.before[0]).parent,
        list(zip(files.selected, params.corpora, strict=True)),
        list(zip(files.dropped, params.corpora, strict=True)),
        dict(snakemake.output.items()),
        **params.settings,
    )
