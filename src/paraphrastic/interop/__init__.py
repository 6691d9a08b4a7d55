"""Import and export of models, smaller versions of them, and model cards."""
