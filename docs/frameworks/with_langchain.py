"""LangChain: a vector store whose texts and queries a model embeds (`pip install langchain-core`)."""

from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from paraphrastic import load_model


class Paraphrastic(Embeddings):
    """Embeds texts and queries."""

    def __init__(self, model: str = "en") -> None:
        self._model = load_model(model)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        return self._model.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        """Embed a query."""
        return self._model.embed_query(text)


if __name__ == "__main__":
    store = InMemoryVectorStore(Paraphrastic("en"))
    store.add_texts(["A man plays the guitar.", "It is raining."])
    print(store.similarity_search("a musician", k=1)[0].page_content)
