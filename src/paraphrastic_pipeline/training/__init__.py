"""Training of sentence encoders with a margin loss and mega-batched hard negatives."""
