"""Prepare test sets with a function of the library, which the rule names.

Named inputs and outputs: the function's arguments. Other inputs: files that the settings name.
"""

from adapter import function_of, paths, step

with step(snakemake):
    prepare = function_of(snakemake.params.function)
    prepare(**paths(snakemake.input), **paths(snakemake.output), **snakemake.params.settings)
