"""Look at what a model has learned: neighbours, pieces, a map of sentences, and what filters dropped.

Inputs: after and before (files of the model), selected, dropped. Outputs: neighbours, pieces, map, dropped.
"""

from pathlib import Path

from adapter import step
from paraphrastic.report.inspection import inspect_model

with step(snakemake):
    given, files = snakemake.params.inspection, snakemake.input
    selected = {}
    for (corpus, column), path in zip(given["columns"], files.selected, strict=True):
        selected.setdefault(corpus, []).append((path, column))
    inspect_model(
        Path(files.after[0]).parent,
        Path(files.before[0]).parent,
        selected,
        dict(zip(given["corpora"], files.dropped, strict=True)),
        dict(snakemake.output.items()),
        **given["settings"],
    )
