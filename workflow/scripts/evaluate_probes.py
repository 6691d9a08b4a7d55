"""Evaluate a system on probes.

Inputs: system (its files), testsets, official. Outputs: result, samples (beside it).
"""

from pathlib import Path

from adapter import step
from paraphrastic.evaluation.probes import evaluate_probes
from paraphrastic.evaluation.results import Evaluation
from paraphrastic.systems.open import open_system

with step(snakemake):
    system, given = open_system(snakemake.params.system), dict(snakemake.params.evaluation)
    files = Path(snakemake.output.result), Path(snakemake.input.official)
    evaluation = Evaluation(system, *files, *map(given.pop, ("source", "bootstrap_samples", "sample")))
    evaluate_probes(evaluation, Path(snakemake.input.testsets))
