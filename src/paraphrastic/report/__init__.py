"""The page of a run: what it is made of, and how it is written."""
