"""Chroma: a collection whose documents and queries are embedded by a model (`pip install chromadb`)."""

from typing import Any

import chromadb
from chromadb.utils.embedding_functions import register_embedding_function

from paraphrastic import load_model


@register_embedding_function
class Paraphrastic(chromadb.EmbeddingFunction[chromadb.Documents]):
    """Embeds documents; a collection keeps the model's name or folder, and opens it again by itself."""

    def __init__(self, model: str = "en") -> None:
        self.place, self.model = model, load_model(model)

    def __call__(self, input: chromadb.Documents) -> chromadb.Embeddings:
        """Embed documents or queries."""
        return list(self.model.embed_raw_text(input, normalize=True))

    @staticmethod
    def name() -> str:
        """What a collection calls the function."""
        return "paraphrastic"

    def get_config(self) -> dict[str, Any]:
        """What a collection keeps."""
        return {"model": self.place}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> "Paraphrastic":
        """Make the function again."""
        return Paraphrastic(**config)


if __name__ == "__main__":
    client = chromadb.PersistentClient("chroma")
    collection = client.get_or_create_collection(
        "sentences", embedding_function=Paraphrastic("en"), configuration={"hnsw": {"space": "cosine"}}
    )
    collection.upsert(ids=["1", "2"], documents=["A man plays the guitar.", "It is raining."])
    print(collection.query(query_texts=["a musician"], n_results=1)["documents"][0][0])
