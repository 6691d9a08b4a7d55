"""Translate a shard of a bitext's sentences, to have paraphrases of their translations.

Inputs: pairs, translator (its files; none if it has only a name). Output: translated.
"""

from adapter import step
from paraphrastic_pipeline.corpus.translation import open_translator, translate_corpus

with step(snakemake):
    translate_corpus(
        snakemake.input.pairs,
        snakemake.output.translated,
        translate=open_translator(**snakemake.params.translator, threads=snakemake.threads),
        shard=tuple(map(int, snakemake.wildcards.scatteritem.split("-of-"))),
    )
