"""Evaluate a system on BUCC.

Inputs: system (its files), sentences, gold (both of each pair), official. Outputs: result, samples.
"""

from pathlib import Path

from adapter import step
from paraphrastic.systems.open import open_system
from paraphrastic_pipeline.evaluation.bitext import evaluate_bucc
from paraphrastic_pipeline.evaluation.results import Evaluation

with step(snakemake):
    given, threads = dict(snakemake.params.evaluation), snakemake.threads
    system = open_system(snakemake.params.system, threads=threads)
    files = Path(snakemake.output.result), Path(snakemake.input.official)
    evaluation = Evaluation(system, *files, *map(given.pop, ("source", "bootstrap_samples", "sample")))
    paths = zip(map(Path, snakemake.input.sentences), map(Path, snakemake.input.gold), strict=True)
    testsets = dict(zip(snakemake.params.pairs, paths, strict=True))
    evaluate_bucc(evaluation, testsets, threads=threads)
