"""Gather the translations of bitexts as a corpus of paraphrases.

Inputs: translated (the shards of all bitexts), identifier (none or one). Outputs: pairs, counts, examples.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.corpus.counts import FilterFiles
from paraphrastic_pipeline.corpus.translation import gather_translations
from paraphrastic_pipeline.settings.faults import parsed
from paraphrastic_pipeline.settings.sections.selection import LanguageFilter

with step(snakemake):
    output = snakemake.output
    gather_translations(
        list(snakemake.input.translated),
        FilterFiles(output.pairs, output.counts, output.examples),
        language=snakemake.params.language,
        identifier=next(map(Path, snakemake.input.identifier), None),
        rule=snakemake.params.rule and parsed(LanguageFilter, snakemake.params.rule),
        preparation=snakemake.params.preparation,
        identify=snakemake.params.identify,
        seed=snakemake.params.seed,
    )
