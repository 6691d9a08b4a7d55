"""Training of averaged embeddings on a GPU, in torch alone: the same code runs on any device."""
