"""Evaluate a system on a task with a function of the library, which the rule names.

Inputs: official, and the function's arguments; the system's files. Output: result.
"""

from pathlib import Path

from adapter import function_of, paths, step
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.evaluation.results import write_result

with step(snakemake):
    params, files = snakemake.params, paths(snakemake.input)
    encoder = open_encoder(params.system, threads=snakemake.threads)
    official = files.pop("official", None)
    threads = {"threads": snakemake.threads} if params.uses_threads else {}
    figures = function_of(params.function)(encoder, **files, **params.settings, **threads)
    about = {"task": snakemake.wildcards.task, "official": official, **params.evaluation}
    write_result(Path(snakemake.output.result), encoder, figures, **about)
