"""Read a corpus from its downloads into Parquet.

Inputs: downloads. Output: pairs.
"""

from pathlib import Path

from adapter import fetched, step
from paraphrastic.corpus.readers import CorpusFile, extract_corpus

with step(snakemake):
    paths = snakemake.input.downloads
    files = zip(paths, fetched(snakemake, paths), strict=True)
    extract_corpus(
        snakemake.params.kind,
        [CorpusFile(Path(path), file.languages, file.members) for path, file in files],
        tuple(snakemake.wildcards.pair.split("-")),
        snakemake.output.pairs,
        max_member_bytes=snakemake.params.max_member_bytes,
    )
