"""Draw a figure with a function of the library, which the rule names.

Inputs: the function's arguments. Outputs: svg, png.
"""

from adapter import function_of, paths, step

with step(snakemake):
    plot, outputs = function_of(snakemake.params.function), [snakemake.output.svg, snakemake.output.png]
    plot(**paths(snakemake.input), outputs=outputs, **snakemake.params.settings)
