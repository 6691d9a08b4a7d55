"""The page of a run with its tables and pictures, and the provenance of its results."""
