"""What the rules ask the library for: files, resources, and the plan of a run."""
