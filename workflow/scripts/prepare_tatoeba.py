"""Prepare Tatoeba's sentences in a language and their English translations.

Input: downloads (sentences in the language and in English). Output: testset.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.bitext_data import prepare_tatoeba

with step(snakemake):
    prepare_tatoeba([Path(path) for path in snakemake.input.downloads], Path(snakemake.output.testset))
