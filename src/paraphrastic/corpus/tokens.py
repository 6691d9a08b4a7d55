"""Tokens of many texts: their counts, and words in one flat array for the scores that compare them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.arrays import Int32, Int64
from paraphrastic.base.units import split_marks
from paraphrastic.corpus.treebank import word_tokenizer

Tokenizer = Literal["word", "treebank"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Words of texts: text i consists of the words with numbers `ids[offsets[i]:offsets[i + 1]]`.

    Attributes:
        ids: int32 [tokens], each token's index in `words`.
        offsets: int64 [texts + 1].
        words: the distinct words.
    """

    ids: Int32
    offsets: Int64
    words: list[str]

    @property
    def owners(self) -> Int64:
        """Index of the text that each token belongs to: int64 [tokens]."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def split_tokens(texts: pa.Array) -> pa.ListArray:
    """Split each text at (Unicode) white space."""
    return pc.utf8_split_whitespace(pc.utf8_trim_whitespace(texts))


def count_tokens(texts: pa.Array) -> pa.Array:
    """Number of tokens in each text: int32, 0 for a text of white space only."""
    counts = pc.list_value_length(split_tokens(texts))
    # Arrow splits a text that is only white space into one empty token.
    return pc.if_else(pc.equal(pc.utf8_trim_whitespace(texts), ""), pa.scalar(0, pa.int32()), counts)


def tokenize(texts: pa.Array | Sequence[str], tokenizer: Tokenizer = "word") -> Tokens:
    """Lower-cased words of each text.

    The tokenizer `word` splits text at white space. Each punctuation mark or symbol at either end of a token
    is then a word of its own (`(hello!)` becomes `( hello ! )`), while those inside stay (`don't`, `3.5`,
    `well-known`). `treebank` is NLTK's much slower `word_tokenize`, as in the original (`do n't`).
    """
    if tokenizer == "treebank":
        texts = _split_by_treebank(texts)
    pieces = split_tokens(pa.array(texts, pa.string()) if not isinstance(texts, pa.Array) else texts)
    # Python handles each distinct piece once; Arrow does the rest.
    encoded = pieces.values.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    of_piece = [[piece] if tokenizer == "treebank" else split_marks(piece.lower()) for piece in distinct]
    words = pa.array(of_piece, pa.list_(pa.string()))
    numbered = words.values.dictionary_encode()
    ids = pa.ListArray.from_arrays(words.offsets, numbered.indices).take(encoded.indices)
    offsets = ids.offsets.to_numpy().astype(np.int64)[pieces.offsets.to_numpy()]
    return Tokens(ids.values.to_numpy(), offsets, numbered.dictionary.to_pylist())


def _split_by_treebank(texts: pa.Array | Sequence[str]) -> pa.Array:
    """Lower-case the texts and put a space between any two words."""
    split = word_tokenizer()
    plain = texts.to_pylist() if isinstance(texts, pa.Array) else texts
    return pa.array([" ".join(split(text.strip().lower())) for text in plain], pa.string())
