"""A server of `POST /v1/embeddings`, as OpenAI answers it for text: `uvicorn --app-dir docs server:app`."""

from base64 import b64encode
from typing import Any, Literal

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from paraphrastic import InputError, load_model

app = FastAPI()
model = load_model("en")


class Request(BaseModel):
    """What a client sends."""

    input: str | list[str]
    model: str = "en"
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


@app.post("/v1/embeddings")
def embeddings(request: Request) -> dict[str, Any]:
    """Embed one text or several."""
    texts = [request.input] if isinstance(request.input, str) else request.input
    try:
        embedded = model.embed_raw_text(texts, normalize=True)
    except InputError as error:
        raise HTTPException(400, str(error)) from None
    if request.dimensions not in (None, model.dim):
        raise HTTPException(400, f"dimensions: the model has {model.dim}")
    # Some clients ask for base64 by default, which is the vector's bytes as float32.
    in_base64 = request.encoding_format == "base64"
    vectors = [b64encode(row).decode() for row in embedded] if in_base64 else embedded.tolist()
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    words = sum(len(text.split()) for text in texts)
    usage = {"prompt_tokens": words, "total_tokens": words}
    return {"object": "list", "model": request.model, "data": data, "usage": usage}
