"""Write a table with a function of the library, which the rule names.

Named inputs and outputs: the function's arguments. Other inputs: what it finds by itself.
"""

from adapter import function_of, paths, step

with step(snakemake):
    tabulate = function_of(snakemake.params.function)
    tabulate(**paths(snakemake.input), **paths(snakemake.output), **snakemake.params.settings)
