"""Keep the pairs of a corpus that pass a model's filters.

Input: scored. Outputs: selected, counts, dropped (a sample for reading).
"""

from adapter import step
from paraphrastic_pipeline.corpus.counts import FilterFiles
from paraphrastic_pipeline.corpus.select import select_pairs
from paraphrastic_pipeline.settings.faults import parsed
from paraphrastic_pipeline.settings.sections.selection import BitextSelection, ParaphraseSelection

with step(snakemake):
    output = snakemake.output
    select_pairs(
        snakemake.input.scored,
        FilterFiles(output.selected, output.counts, output.dropped),
        languages=snakemake.params.languages,
        selection=parsed(
            ParaphraseSelection if "rank" in snakemake.params.selection else BitextSelection,
            snakemake.params.selection,
        ),
        preparation=snakemake.params.preparation,
        seed=snakemake.params.seed,
        raw=snakemake.params.raw,
    )
