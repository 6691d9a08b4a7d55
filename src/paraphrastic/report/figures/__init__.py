"""Pictures of the pipeline's tables.

Each function reads CSV files and writes one picture to all `outputs`, each in the format of its suffix. A
file that is missing or damaged, or one with nothing to draw, is an `InputError`.
"""
