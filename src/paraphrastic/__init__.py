"""Paraphrastic sentence embeddings: train them for any language, embed and compare sentences with them."""

from typing import TYPE_CHECKING, Any

from paraphrastic.errors import InputError

if TYPE_CHECKING:
    from paraphrastic.model import SentenceEncoder, load_model

__all__ = ["InputError", "SentenceEncoder", "load_model"]


def __getattr__(name: str) -> Any:
    # Late, so that the steps of the pipeline load only what they use.
    if name in __all__:
        from paraphrastic import model

        return getattr(model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
