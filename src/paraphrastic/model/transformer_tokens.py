"""The tokens of a Transformer."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paraphrastic.base.arrays import Bool, Int32, Int64

if TYPE_CHECKING:
    import torch

# A tokenizer without a limit has a larger number of tokens as its limit.
NO_LIMIT = 1 << 30


def tokenizer_digest(tokenizer: Any) -> str:
    """SHA-256 of everything that determines how a tokenizer cuts sentences."""
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    # These are left by the last call. What counts is the limit.
    content |= {"truncation": None, "padding": None, "limit": tokenizer.model_max_length}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokenized sentences: those of sentence i are `ids[ends[i]:ends[i + 1]]`.

    Attributes:
        ids: int32 [tokens], with the tokens that mark a sentence's beginning and end.
        ends: int64 [n + 1].
        has_text: false for sentences with no token of their own. [n]
    """

    ids: Int32
    ends: Int64
    has_text: Bool

    def lists(self) -> list[list[int]]:
        """The tokens of each sentence."""
        return [ids.tolist() for ids in np.split(self.ids, self.ends[1:-1])]


def tokenize(tokenizer: Any, texts: Sequence[str]) -> Tokens:
    """Tokenize sentences; tokens after the tokenizer's limit are cut off."""
    if not texts:
        return Tokens(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.bool_))
    encoded = tokenizer(
        list(texts), truncation=tokenizer.model_max_length < NO_LIMIT, return_special_tokens_mask=True
    )
    lengths = np.fromiter(map(len, encoded["input_ids"]), np.int64, len(texts))
    ids = np.fromiter(
        (token for sentence in encoded["input_ids"] for token in sentence), np.int32, lengths.sum()
    )
    special = np.array([all(mask) for mask in encoded["special_tokens_mask"]], np.bool_)
    return Tokens(ids, np.concatenate(([0], np.cumsum(lengths))), ~special)


def padded(ids: Int32, ends: Int64, rows: Int64, padding: int) -> "dict[str, torch.Tensor]":
    """The tokens of sentences `rows` as a Transformer takes them: its inputs and their mask, [n, tokens].

    A sentence without any token has one of padding, because some Transformers cannot read nothing.
    """
    import torch

    lengths = np.diff(ends)[rows]
    width = max(1, int(lengths.max(initial=0)))
    inputs = np.full((len(rows), width), padding, np.int64)
    mask = np.arange(width) < np.maximum(lengths, 1)[:, None]
    is_token = np.arange(width) < lengths[:, None]
    inputs[is_token] = np.concatenate([ids[ends[row] : ends[row + 1]] for row in rows])
    return {"input_ids": torch.from_numpy(inputs), "attention_mask": torch.from_numpy(mask.astype(np.int64))}
