"""How good a system is on pairs of one's own: retrieval, labels, and thresholds for cosines."""
