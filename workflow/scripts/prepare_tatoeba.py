"""Prepare Tatoeba's sentences of a language and their translations.

Input: downloads, the sentences and the English ones. Output: testset.
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.bitext_data import prepare_tatoeba

with step(snakemake):
    prepare_tatoeba([Path(path) for path in snakemake.input.downloads], Path(snakemake.output.testset))
