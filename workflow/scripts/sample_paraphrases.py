"""Sample paraphrases among translations of the same sentences.

Input: measured. Outputs: pairs, counts, examples (for reading).
"""

from adapter import step
from paraphrastic_pipeline.corpus.counts import FilterFiles
from paraphrastic_pipeline.corpus.database import resources_of
from paraphrastic_pipeline.corpus.mined_paraphrases import sample_paraphrases

with step(snakemake):
    output = snakemake.output
    sample_paraphrases(
        snakemake.input.measured,
        FilterFiles(output.pairs, output.counts, output.examples),
        min_similarity=snakemake.params.min_similarity,
        seed=snakemake.params.seed,
        **resources_of(snakemake),
    )
