"""Evaluate a system on SentEval or on the Polish tasks.

Inputs: system (its files), testsets, official. Outputs: result, samples (beside it).
"""

from pathlib import Path

from adapter import step
from paraphrastic.systems.open import open_system
from paraphrastic_pipeline.evaluation.results import Evaluation
from paraphrastic_pipeline.evaluation.transfer import evaluate_transfer

with step(snakemake):
    given, threads = dict(snakemake.params.evaluation), snakemake.threads
    system = open_system(snakemake.params.system, threads=threads)
    files = Path(snakemake.output.result), Path(snakemake.input.official)
    evaluation = Evaluation(system, *files, *map(given.pop, ("source", "bootstrap_samples", "sample")))
    evaluate_transfer(evaluation, Path(snakemake.input.testsets), threads=threads, **given)
