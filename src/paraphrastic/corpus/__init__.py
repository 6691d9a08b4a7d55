"""From downloaded corpora to training pairs: extract, score, select, merge."""
