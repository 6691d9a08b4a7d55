"""A server of `POST /v1/embeddings`, as OpenAI answers it for text: `uvicorn --app-dir docs server:app`."""

from typing import Any

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from paraphrastic import InputError, load_model

app = FastAPI()
model = load_model("en")


class Request(BaseModel):
    """What a client sends."""

    input: str | list[str]
    model: str = "en"


@app.post("/v1/embeddings")
def embeddings(request: Request) -> dict[str, Any]:
    """Embed one text or several."""
    texts = [request.input] if isinstance(request.input, str) else request.input
    try:
        vectors = model.embed_raw_text(texts, normalize=True).tolist()
    except InputError as error:
        raise HTTPException(400, str(error)) from None
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    words = sum(len(text.split()) for text in texts)
    usage = {"prompt_tokens": words, "total_tokens": words}
    return {"object": "list", "model": request.model, "data": data, "usage": usage}
