"""Limits of translation, which the plan of a run needs to know as well."""

# Scores of pieces of the vocabulary in memory at once, for the hypotheses of one step of a batch.
MOST_SCORES = 1 << 27
# A translation may have this many tokens, and this many times as many as the longest sentence of its batch.
MORE_TOKENS, TIMES_TOKENS = 20, 2
