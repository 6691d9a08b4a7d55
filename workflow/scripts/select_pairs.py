"""Keep the pairs of a corpus that pass a model's filters.

Input: scored. Outputs: selected, counts, dropped (a sample for reading).
"""

from adapter import step
from paraphrastic_pipeline.corpus.select import select_pairs

with step(snakemake):
    select_pairs(
        snakemake.input.scored,
        snakemake.output.selected,
        counts=snakemake.output.counts,
        dropped=snakemake.output.dropped,
        languages=snakemake.params.languages,
        settings=snakemake.params.settings,
        preparation=snakemake.params.preparation,
        seed=snakemake.params.seed,
        keep=snakemake.params.keep,
        raw=snakemake.params.raw,
    )
