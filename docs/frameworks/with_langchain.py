"""LangChain: a vector store whose texts and queries a model embeds (`pip install langchain-core`)."""

from langchain_core.vectorstores import InMemoryVectorStore

from paraphrastic import load_model

# A model has LangChain's methods: embed_documents and embed_query.
store = InMemoryVectorStore(load_model("en"))
store.add_texts(["A man plays the guitar.", "It is raining."])
print(store.similarity_search("a musician", k=1)[0].page_content)
