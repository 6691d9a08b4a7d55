"""Evaluate a system on probes.

Inputs: system (its files), testsets, official. Outputs: result, samples (beside it).
"""

from pathlib import Path

from adapter import step
from paraphrastic.systems.open import open_system
from paraphrastic_pipeline.evaluation.probes import evaluate_probes
from paraphrastic_pipeline.evaluation.results import Evaluation

with step(snakemake):
    system, given = open_system(snakemake.params.system), dict(snakemake.params.evaluation)
    files = Path(snakemake.output.result), Path(snakemake.input.official)
    evaluation = Evaluation(system, *files, *map(given.pop, ("source", "bootstrap_samples", "sample")))
    evaluate_probes(evaluation, Path(snakemake.input.testsets))
