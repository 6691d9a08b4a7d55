"""Gather the translations of bitexts as a corpus of paraphrases.

Input: translated (the shards of all bitexts). Outputs: pairs, counts, examples.
"""

from adapter import step
from paraphrastic_pipeline.corpus.counts import FilterFiles
from paraphrastic_pipeline.corpus.translation import gather_translations

with step(snakemake):
    output = snakemake.output
    gather_translations(
        snakemake.input.translated,
        FilterFiles(output.pairs, output.counts, output.examples),
        seed=snakemake.params.seed,
    )
