"""Pictures of the pipeline's tables.

Each function draws one picture from its input files and writes it to all `outputs`, in the format of each
suffix. An input file that is missing or damaged, or has nothing to draw, is an `InputError`.
"""
