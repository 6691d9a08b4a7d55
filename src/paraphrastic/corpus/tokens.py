"""Tokens of many texts: how many they are, and words as one flat array for the scores that compare them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.units import split_marks

Tokenizer = Literal["word", "treebank"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Words of texts: `words[ids[offsets[i]:offsets[i + 1]]]` are those of text i.

    Attributes:
        ids: int32 [tokens], numbers of words.
        offsets: int64 [texts + 1].
        words: the distinct words.
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    words: list[str]

    @property
    def owners(self) -> npt.NDArray[np.int64]:
        """Number of the text that each token stands in: int64 [tokens]."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def split_tokens(texts: pa.Array) -> pa.ListArray:
    """Tokens of each text: what stands between (Unicode) white space."""
    return pc.utf8_split_whitespace(pc.utf8_trim_whitespace(texts))


def count_tokens(texts: pa.Array) -> pa.Array:
    """Number of tokens of each text: int32, 0 for a text of white space only."""
    counts = pc.list_value_length(split_tokens(texts))
    # White space only is split into one empty token.
    return pc.if_else(pc.equal(pc.utf8_trim_whitespace(texts), ""), pa.scalar(0, pa.int32()), counts)


def tokenize(texts: pa.Array | Sequence[str], tokenizer: Tokenizer = "word") -> Tokens:
    """Lower-cased words of each text.

    The tokenizer `word` splits text at white space; then each punctuation mark or symbol at either end of
    a token is a word of its own (`(hello!)` is `( hello ! )`), while those inside stay (`don't`, `3.5`,
    `well-known`). `treebank` is NLTK's `TreebankWordTokenizer`, the original's (`do n't`), and much slower.
    """
    if tokenizer == "treebank":
        texts = _split_by_treebank(texts)
    pieces = split_tokens(pa.array(texts, pa.string()) if not isinstance(texts, pa.Array) else texts)
    encoded = pieces.values.dictionary_encode()
    piece_ids = encoded.indices.to_numpy()

    # Python sees each distinct piece once; the rest is arithmetic on arrays.
    numbers: dict[str, int] = {}
    flat: list[int] = []
    starts = [0]
    for piece in encoded.dictionary.to_pylist():
        words = [piece] if tokenizer == "treebank" else split_marks(piece.lower())
        flat.extend(numbers.setdefault(word, len(numbers)) for word in words)
        starts.append(len(flat))
    word_ids = np.array(flat, np.int32)
    piece_starts = np.array(starts, np.int64)

    counts = np.diff(piece_starts)[piece_ids]
    ends = np.concatenate(([0], np.cumsum(counts)))
    shift = np.repeat(piece_starts[piece_ids] - ends[:-1], counts)
    ids = word_ids[np.arange(ends[-1]) + shift]
    return Tokens(ids, ends[pieces.offsets.to_numpy()], list(numbers))


def _split_by_treebank(texts: pa.Array | Sequence[str]) -> pa.Array:
    """Lower-cased texts with a space between any two words."""
    # Not at the top: only this tokenizer needs NLTK.
    from nltk.tokenize import TreebankWordTokenizer

    tokenize = TreebankWordTokenizer().tokenize
    plain = texts.to_pylist() if isinstance(texts, pa.Array) else texts
    return pa.array([" ".join(tokenize(text.lower())) for text in plain], pa.string())
