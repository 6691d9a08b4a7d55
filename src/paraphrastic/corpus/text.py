"""Segment and lower-case text; a token is what stands between white space."""

import functools
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.errors import InputError


def segment(texts: Sequence[str], language: str, mode: str) -> list[str]:
    """Put spaces between the words of languages that are written without.

    Args:
        texts: in one language.
        language: its code; only Chinese (`zh`) has a segmenter, jieba.
        mode: `accurate`, `full` (every word that the dictionary finds, overlapping: the original's
            `cut_all=True`), or `none`, which leaves the texts as they are.
    """
    if mode == "none":
        return list(texts)
    if language != "zh" or mode not in ("accurate", "full"):
        raise InputError(f"segmentation.{language}: there is no segmenter {mode!r} for this language")
    cut = _jieba().cut
    return [" ".join(" ".join(cut(text, cut_all=mode == "full")).split()) for text in texts]


def lowercase(texts: Sequence[str]) -> list[str]:
    """Lower-cased texts, by the rules of Unicode."""
    return [text.lower() for text in texts]


def collapse_spaces(texts: Sequence[str]) -> list[str]:
    """Texts with one space between tokens and none around."""
    return [" ".join(text.split()) for text in texts]


def split_tokens(texts: pa.Array) -> pa.ListArray:
    """Tokens of each text: what stands between (Unicode) white space."""
    return pc.utf8_split_whitespace(pc.utf8_trim_whitespace(texts))


def count_tokens(texts: pa.Array) -> pa.Array:
    """Number of tokens of each text: int32, 0 for a text of white space only."""
    counts = pc.list_value_length(split_tokens(texts))
    # White space only is split into one empty token.
    return pc.if_else(pc.equal(pc.utf8_trim_whitespace(texts), ""), pa.scalar(0, pa.int32()), counts)


@functools.cache
def _jieba() -> Any:
    import jieba

    tokenizer = jieba.Tokenizer()
    # What `initialize` does, less its chatter and its cache, a file under a name that all users share.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer
