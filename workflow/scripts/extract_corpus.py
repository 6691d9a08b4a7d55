"""Read a corpus from its files and write its pairs as Parquet.

Inputs: downloads (or local files). Output: pairs.
"""

from adapter import step
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus

with step(snakemake):
    files = zip(snakemake.input.downloads, snakemake.params.files, strict=True)
    extract_corpus(
        snakemake.params.kind,
        [CorpusFile(path, file["languages"], file["members"]) for path, file in files],
        tuple(snakemake.wildcards.pair.split("-")),
        snakemake.output.pairs,
        max_unreadable=snakemake.params.max_unreadable,
        seed=snakemake.params.seed,
    )
