"""Keep the pairs of a corpus that pass a model's filters.

Input: scored. Outputs: selected, counts, dropped (a sample for reading).
"""

from adapter import step
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from paraphrastic_pipeline.corpus.select import select_pairs

with step(snakemake):
    output = snakemake.output
    select_pairs(
        snakemake.input.scored,
        FilterFiles(output.selected, output.counts, output.dropped),
        languages=snakemake.params.languages,
        settings=snakemake.params.settings,
        is_text=snakemake.params.is_text,
        preparation=snakemake.params.preparation,
        seed=snakemake.params.seed,
        keep=snakemake.params.keep,
        raw=snakemake.params.raw,
    )
