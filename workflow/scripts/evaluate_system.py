"""Evaluate a system on a task with a function of the library, which the rule names.

Inputs: official, and the function's arguments; the system's files. Outputs: result, samples (beside it).
"""

from pathlib import Path

from adapter import function_of, paths, step
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.evaluation.results import Evaluation

with step(snakemake):
    params, threads, files = snakemake.params, snakemake.threads, paths(snakemake.input)
    encoder = open_encoder(params.system, threads=threads)
    result, official = Path(snakemake.output.result), files.pop("official", None)
    evaluation = Evaluation(encoder, result, official, **params.evaluation, threads=threads)
    function_of(params.function)(evaluation, **files, **params.settings)
