"""How much the words of two sentences agree: trigram overlap, and the number of changed words."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from paraphrastic.base.arrays import Bool, Float32, Int32, Int64
from paraphrastic_pipeline.corpus.tokens import Tokenizer, Tokens, tokenize


def compare_words(
    sources: pa.Array | Sequence[str], targets: pa.Array | Sequence[str], *, tokenizer: Tokenizer = "word"
) -> tuple[Float32, Int32]:
    """Trigram overlap and changed words of each pair, with words split by `tokens.tokenize`.

    Returns:
        `overlap`, float32 [pairs]: the share of the shorter sentence's word trigrams that also occur in the
        other sentence ("Paraphrastic Representations at Scale", section on data). As in the original code,
        each occurrence in the shorter sentence counts, however often the other one has it; of two sentences
        with equally many tokens, the source is the shorter one. A sentence of two words has an overlap of 0.

        `changed`, int32 [pairs]: words of the longer sentence that are left after removing the common
        beginning and then the common end of both sentences; 0 if their words are the same. Punctuation does
        not count. This finds short copies that the overlap misses: *a dog on the grass* and *a dog on the
        lawn* share only two of three trigrams.
    """
    sources, targets = (pa.array(side, pa.string()) for side in (sources, targets))
    tokens = tokenize(pa.concat_arrays([sources, targets]), tokenizer)
    pairs = len(sources)
    lengths = np.diff(tokens.offsets).reshape(2, pairs)
    shared = _shared_trigrams(tokens, lengths[0] <= lengths[1])
    of_shorter = np.maximum(lengths.min(axis=0) - 2, 1)
    return (shared / of_shorter).astype(np.float32), _changed_words(tokens, pairs)


def _changed_words(tokens: Tokens, pairs: int) -> Int32:
    """Words of the longer of texts i and `pairs` + i outside their common start and end: int32 [pairs]."""
    is_word = np.array([any(map(str.isalnum, word)) for word in tokens.words], bool)[tokens.ids]
    ids = tokens.ids[is_word]
    offsets = np.concatenate(([0], np.cumsum(is_word)))[tokens.offsets]
    starts, ends = offsets[:-1].reshape(2, pairs), offsets[1:].reshape(2, pairs)
    lengths = ends - starts
    shorter = lengths.min(axis=0)
    firsts = np.cumsum(shorter) - shorter
    place = np.arange(shorter.sum()) - np.repeat(firsts, shorter)

    def run(sides: Int64) -> Int64:
        """Length of each pair's run of equal words; `sides` are the places to compare, [2, tokens]."""
        differ = np.flatnonzero(ids[sides[0]] != ids[sides[1]])
        ends = np.append(differ, len(place))[np.searchsorted(differ, firsts)]
        return np.minimum(ends - firsts, shorter)

    beginning = run(np.repeat(starts, shorter, axis=1) + place)
    end = run(np.repeat(ends, shorter, axis=1) - 1 - place)
    return (lengths.max(axis=0) - np.minimum(beginning + end, shorter)).astype(np.int32)


def _shared_trigrams(tokens: Tokens, is_source: Bool) -> Int64:
    """Trigrams of the shorter text of each pair that the other one has, too, each occurrence: int64 [pairs].

    `is_source`, [pairs], says whether it is text i, or text `pairs` + i.
    """
    ids, owners, pairs = tokens.ids.astype(np.int64), tokens.owners, len(is_source)
    starts = np.flatnonzero(owners[:-2] == owners[2:])
    bigrams, distinct = pd.factorize(ids[:-1] * len(tokens.words) + ids[1:])
    owners = owners[starts]
    of_pair = np.where(owners < pairs, owners, owners - pairs)
    # A trigram and its pair are one number, which has 63 bits for fifty million words in a block of pairs.
    keys = (of_pair * len(distinct) + bigrams[starts]) * len(tokens.words) + ids[starts + 2]
    is_shorter = np.concatenate((is_source, ~is_source))[owners]
    is_shared = pd.Index(keys[is_shorter]).isin(keys[~is_shorter])
    return np.bincount(of_pair[is_shorter][is_shared], minlength=pairs)
