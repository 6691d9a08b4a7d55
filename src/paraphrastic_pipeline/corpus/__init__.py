"""Turn downloaded corpora into training pairs: extract, score, select and merge them."""
