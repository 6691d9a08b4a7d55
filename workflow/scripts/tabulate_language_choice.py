"""Write the tables of the study of languages.

Inputs: overlaps, sts, prefixed (none or one per model), uriel, published. Outputs: table, correlations.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.language_choice import LanguageModel, tabulate_language_choice

with step(snakemake):
    inputs = (snakemake.input.overlaps, snakemake.input.sts, snakemake.input.prefixed)
    tabulate_language_choice(
        [LanguageModel(*map(Path, files)) for files in zip(*filter(None, inputs), strict=True)],
        [Path(path) for path in snakemake.input.uriel],
        Path(snakemake.input.published),
        Path(snakemake.output.table),
        Path(snakemake.output.correlations),
        bootstrap_samples=snakemake.params.bootstrap_samples,
        max_bytes=snakemake.params.max_bytes,
    )
