"""Gather the sentences of all test sets that are evaluated.

Input: testsets. Output: sentences.
"""

from adapter import step
from paraphrastic_pipeline.evaluation.listed_sentences import gather_sentences

with step(snakemake):
    gather_sentences(snakemake.input.testsets, snakemake.output.sentences)
