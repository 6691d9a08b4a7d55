"""What the pipeline's rules ask the library for: files, resources and the plan of a run."""
