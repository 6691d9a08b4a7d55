"""Haystack: components that embed documents and a query by a model (`pip install haystack-ai`)."""

from dataclasses import replace

from haystack import Document, Pipeline, component
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from paraphrastic import load_model


@component
class DocumentEmbedder:
    """Adds vectors to documents."""

    def __init__(self, model: str = "en") -> None:
        # Haystack writes a pipeline with the arguments that have attributes of their names.
        self.model, self._encoder = model, load_model(model)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Embed the documents' content."""
        vectors = self._encoder.embed_documents([document.content or "" for document in documents])
        pairs = zip(documents, vectors, strict=True)
        return {"documents": [replace(document, embedding=vector) for document, vector in pairs]}


@component
class TextEmbedder:
    """Embeds a query."""

    def __init__(self, model: str = "en") -> None:
        self.model, self._encoder = model, load_model(model)

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        """Embed the text."""
        return {"embedding": self._encoder.embed_query(text)}


if __name__ == "__main__":
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    texts = [Document(content=text) for text in ("A man plays the guitar.", "It is raining.")]
    store.write_documents(DocumentEmbedder("en").run(texts)["documents"])
    pipeline = Pipeline()
    pipeline.add_component("embedder", TextEmbedder("en"))
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=1))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    print(pipeline.run({"embedder": {"text": "a musician"}})["retriever"]["documents"][0].content)
