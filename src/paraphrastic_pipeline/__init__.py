"""The pipeline: what trains and evaluates paraphrastic sentence embeddings, its settings and its commands."""
