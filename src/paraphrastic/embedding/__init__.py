"""From raw text to averages of embeddings, as fast as memory allows."""
