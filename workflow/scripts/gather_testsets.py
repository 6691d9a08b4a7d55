"""Gather the sentences of the test sets.

Input: downloads (of the test sets). Output: sentences.
"""

from pathlib import Path

from adapter import fetched, step
from paraphrastic.corpus.testsets import TestFile, gather_testsets

with step(snakemake):
    paths = snakemake.input.get("downloads", [])
    testsets = {name: testset for testset, name in snakemake.params.testsets.items()}
    gather_testsets(
        [
            TestFile(testsets[file.dataset], Path(path), file.languages, file.members)
            for path, file in zip(paths, fetched(snakemake, paths), strict=True)
        ],
        snakemake.output.sentences,
        segmentation=snakemake.params.segmentation,
    )
