"""A module for sentence-transformers: an LSTM over a Transformer's tokens (Dadas 2022, section III-B)."""

from typing import Any

import torch
from sentence_transformers.sentence_transformer.modules import LSTM

_WIDEST = 1 << 16


class LastState(LSTM):
    """The LSTM of sentence-transformers, which by itself cannot follow a Transformer.

    It asks for the number of tokens of each sentence, which only `WordEmbeddings` provides. With the pooling
    `lasttoken` after it, a sentence's vector is the state at its last token that is not padding.
    """

    def __init__(
        self, embedding_dimension: int, hidden_dim: int, num_layers: int = 1, **settings: Any
    ) -> None:
        # The numbers may come from the file of a stranger, and the LSTM takes as much memory as they say.
        if num_layers != 1 or not 0 < embedding_dimension <= _WIDEST or not 0 < hidden_dim <= _WIDEST:
            raise ValueError(f"an LSTM of one layer and at most {_WIDEST:,} dimensions is needed")
        super().__init__(embedding_dimension, hidden_dim, num_layers, **settings)

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Replace the tokens' vectors, [sentences, tokens, dim], by the states, [sentences, tokens, size]."""
        mask, vectors = features["attention_mask"], features["token_embeddings"]
        lengths = mask.sum(dim=1)
        # The states of padding are cut off if all sentences have it, so the mask is shortened as well.
        features["sentence_lengths"] = lengths
        features["attention_mask"] = mask[:, : int(lengths.max())]
        # On a processor, torch's LSTM fails in half precision if all sentences have the same length.
        kind = vectors.device.type
        with torch.autocast(kind, enabled=kind != "cpu" and torch.is_autocast_enabled(kind)):
            if kind == "cpu":
                features["token_embeddings"] = vectors.float()
            return super().forward(features)
