"""Paraphrastic sentence embeddings: train them for any language, embed and compare sentences with them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paraphrastic.errors import InputError

if TYPE_CHECKING:
    from paraphrastic.mining.duplicates import near_duplicates
    from paraphrastic.mining.retrieval import search
    from paraphrastic.model import SentenceEncoder
    from paraphrastic.model_folder import load_model

__all__ = ["InputError", "SentenceEncoder", "load_model", "near_duplicates", "search"]

_MODULES = {
    "SentenceEncoder": "model",
    "load_model": "model_folder",
    "near_duplicates": "mining.duplicates",
    "search": "mining.retrieval",
}


def __getattr__(name: str) -> Any:
    # Late, so that the steps of the pipeline load only what they use.
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
