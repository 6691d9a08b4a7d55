"""LlamaIndex: an index whose nodes and queries are embedded by a model (`pip install llama-index-core`)."""

from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import TextNode

from paraphrastic import load_model


class Paraphrastic(BaseEmbedding):
    """Embeds texts and queries."""

    def __init__(self, model: str = "en", **settings: Any) -> None:
        super().__init__(model_name=model, **settings)
        self._model = load_model(model)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._model.embed_documents(texts)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._model.embed_query(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._model.embed_query(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._model.embed_query(query)


if __name__ == "__main__":
    nodes = [TextNode(text=text) for text in ("A man plays the guitar.", "It is raining.")]
    index = VectorStoreIndex(nodes, embed_model=Paraphrastic("en"))
    print(index.as_retriever(similarity_top_k=1).retrieve("a musician")[0].text)
