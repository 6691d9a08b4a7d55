"""Evaluate a system on STS 2012-2016, on tracks of STS 2017 or on STS Benchmark.

Inputs: system (its files), testsets, official. Outputs: result, samples (beside it).
"""

from pathlib import Path

from adapter import step
from paraphrastic.systems.open import open_system
from paraphrastic_pipeline.evaluation.results import Evaluation
from paraphrastic_pipeline.evaluation.sts import evaluate_sts

with step(snakemake):
    system, given = open_system(snakemake.params.system), dict(snakemake.params.evaluation)
    files = Path(snakemake.output.result), Path(snakemake.input.official)
    evaluation = Evaluation(system, *files, *map(given.pop, ("source", "bootstrap_samples", "sample")))
    evaluate_sts(evaluation, Path(snakemake.input.testsets), **given)
