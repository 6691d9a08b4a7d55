"""Gather the sentences of the test sets.

Input: testsets. Output: sentences.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.corpus.testset_sentences import TestFile, gather_testsets

with step(snakemake):
    files = zip(snakemake.input.get("testsets", []), snakemake.params.files, strict=True)
    gather_testsets(
        [TestFile(path=Path(path), **about) for path, about in files],
        snakemake.output.sentences,
        segmentation=snakemake.params.segmentation,
        lowercase=snakemake.params.lowercase,
    )
