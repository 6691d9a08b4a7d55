"""Read a corpus from its files and write its pairs as Parquet.

Inputs: downloads (or local files). Outputs: pairs, unreadable (rows that were left out).
"""

from adapter import step
from paraphrastic_pipeline.corpus.database import resources_of
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.corpus.sentence_groups import Drawing

with step(snakemake):
    files = zip(snakemake.input.downloads, snakemake.params.files, strict=True)
    extract_corpus(
        snakemake.params.kind,
        [CorpusFile(path, file["languages"], file["members"]) for path, file in files],
        tuple(snakemake.wildcards.pair.split("-")),
        snakemake.output.pairs,
        unreadable=snakemake.output.unreadable,
        max_unreadable=snakemake.params.max_unreadable,
        drawing=Drawing.of_rule(snakemake.params.drawing, resources_of(snakemake, share=2)),
    )
