"""Models from and for other libraries, smaller models, and model cards."""
