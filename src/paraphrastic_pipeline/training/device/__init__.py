"""Training of averaged embeddings on a GPU. It uses only torch, so the same code runs on any device."""
