"""How a Transformer's tokenizer prepares and cuts sentences."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paraphrastic.base.arrays import Bool, Int32, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.base.text_patterns import TOKENIZERS, cleaning, final_sigma
from paraphrastic.model.architecture import Transformer
from paraphrastic.model.hub import load_from_hub, not_installed

if TYPE_CHECKING:
    import torch

# A tokenizer without a limit has a larger number of tokens as its limit.
NO_LIMIT = 1 << 30
# Transformers that count positions from the id of their padding.
_LATE_POSITIONS = {
    "camembert",
    "data2vec-text",
    "longformer",
    "mpnet",
    "roberta",
    "xlm-roberta",
    "xlm-roberta-xl",
}


def load_tokenizer(transformer: Transformer, *, lowercase: bool) -> Any:
    """Load a Transformer's tokenizer, which cuts sentences off after the tokens that the Transformer reads.

    The tokenizer cleans sentences and, if they are lower-cased, does that, so that it does both in other
    libraries, too.

    Raises:
        InputError: as `load_modules`.
    """
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise not_installed(transformer.place, "neural", is_place=True) from None
    tokenizer = load_from_hub(
        transformer.place,
        "transformers",
        lambda place, offline: AutoTokenizer.from_pretrained(place, local_files_only=offline),
    )
    prepare_tokenizer(tokenizer, load_config(transformer.place), transformer, lowercase)
    return tokenizer


def tokenizer_digest(tokenizer: Any) -> str:
    """SHA-256 of everything that determines how a tokenizer cuts sentences."""
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    # These are left by the last call. What counts is the limit.
    content |= {"truncation": None, "padding": None, "limit": tokenizer.model_max_length}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def load_config(place: str) -> Any:
    """Load the configuration of a Transformer's layers; errors are those of `load_from_hub`."""
    from transformers import AutoConfig

    return load_from_hub(
        place,
        "transformers",
        lambda place, offline: AutoConfig.from_pretrained(place, local_files_only=offline),
    )


def prepare_tokenizer(tokenizer: Any, config: Any, transformer: Transformer, lowercase: bool) -> None:
    """Have a loaded tokenizer clean, lower-case and cut off sentences; see `load_tokenizer`."""
    from tokenizers import Regex, normalizers

    place, asked = transformer.place, transformer.max_tokens
    if not tokenizer.is_fast or tokenizer.pad_token_id is None:
        lacks = "token for padding" if tokenizer.is_fast else "fast tokenizer (tokenizer.json)"
        raise InputError(f"{place}: has no {lacks}")
    limits = []
    # Tokenizers without a limit have a number that no sentence reaches.
    if tokenizer.model_max_length < NO_LIMIT:
        limits.append(int(tokenizer.model_max_length))
    if positions := getattr(config, "max_position_embeddings", None):
        first = config.pad_token_id + 1 if config.model_type in _LATE_POSITIONS else 0
        limits.append(positions - first)
    limit = min(limits, default=None)
    if asked and limit and asked > limit:
        raise InputError(f"{place}: can read {limit:,} tokens, but encoder.max_tokens is {asked:,}")
    tokenizer.model_max_length = asked or limit or tokenizer.model_max_length
    steps: list[Any] = [normalizers.Replace(Regex(pattern), other) for pattern, other in cleaning(TOKENIZERS)]
    if lowercase:
        steps += [normalizers.Replace(Regex(final_sigma()), "ς"), normalizers.Lowercase()]
    if (normalizer := tokenizer.backend_tokenizer.normalizer) is not None:
        steps.append(normalizer)
    tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(steps)
    # The last state is that of the last token, wherever the Transformer was used to have its padding.
    tokenizer.padding_side = "right"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Sentences cut into a Transformer's tokens: those of sentence i are `ids[ends[i]:ends[i + 1]]`.

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


def cut_into_tokens(tokenizer: Any, texts: Sequence[str]) -> Tokens:
    """Cut sentences into tokens; those after the tokenizer's limit are cut off."""
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
    places = np.arange(width) < lengths[:, None]
    inputs[places] = np.concatenate([ids[ends[row] : ends[row + 1]] for row in rows])
    return {"input_ids": torch.from_numpy(inputs), "attention_mask": torch.from_numpy(mask.astype(np.int64))}
