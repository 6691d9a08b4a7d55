"""The page of a run and its figures, and where its results come from."""
