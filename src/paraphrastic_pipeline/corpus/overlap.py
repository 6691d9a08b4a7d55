"""How much the words of two sentences agree: trigram overlap, and the number of changed words."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paraphrastic.base.arrays import Bool, Float32, Int32, Int64
from paraphrastic_pipeline.corpus.tokens import Tokenizer, Tokens, tokenize

_KEY_BITS = 63


def compare_words(
    sources: pa.Array | Sequence[str], targets: pa.Array | Sequence[str], *, tokenizer: Tokenizer = "word"
) -> tuple[Float32, Int32]:
    """Trigram overlap and changed words of each pair, with words split by `tokens.tokenize`.

    Returns:
        `overlap`, float32 [pairs]: the share of the shorter sentence's word trigrams that also occur in the
        other sentence. "Paraphrastic Representations at Scale", section on data: "calculated by counting
        trigrams in the two sentences, and then dividing the number of shared trigrams by the total number in
        the sentence with fewer tokens". As in the original code, each occurrence in the shorter sentence
        counts, however often the other one has it; of two sentences with equally many tokens, the source is
        the shorter one. The overlap is 0 if the shorter sentence has fewer than three words.

        `changed`, int32 [pairs]: words of the longer sentence that are left after removing the common
        beginning and then the common end of both sentences; 0 if their words are the same. Punctuation does
        not count. This finds short copies that the overlap misses: *a dog on the grass* and *a dog on the
        lawn* share only two of three trigrams.
    """
    sources, targets = (pa.array(side, pa.string()) for side in (sources, targets))
    pairs = len(sources)
    tokens = tokenize(pa.concat_arrays([sources, targets]), tokenizer)
    word_bits = max(1, len(tokens.words).bit_length())
    if 3 * word_bits > _KEY_BITS:
        if pairs < 2:
            raise ValueError("a pair of more than two million words")
        middle = pairs // 2
        halves = [
            compare_words(sources[:middle], targets[:middle], tokenizer=tokenizer),
            compare_words(sources[middle:], targets[middle:], tokenizer=tokenizer),
        ]
        overlaps, changes = zip(*halves, strict=True)
        return np.concatenate(overlaps), np.concatenate(changes)
    lengths = np.diff(tokens.offsets).reshape(2, pairs)
    shared = _shared_trigrams(tokens, pairs, word_bits, lengths[0] <= lengths[1])
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


def _shared_trigrams(tokens: Tokens, pairs: int, word_bits: int, of_source: Bool) -> Int64:
    """How many trigrams of text i the text `pairs` + i has, too, or the other way round: int64 [pairs].

    `of_source`, [pairs], says whether the occurrences in text i count, or those in text `pairs` + i.
    """
    ids = tokens.ids.astype(np.int64)
    owners = tokens.owners
    within = owners[:-2] == owners[2:]
    trigrams = ((ids[:-2] << word_bits | ids[1:-1]) << word_bits | ids[2:])[within]
    owners = owners[:-2][within]

    # Pair and trigram are packed into one integer, so that sorting brings a pair's equal trigrams together.
    # The bits that are left limit the number of pairs per step.
    trigram_bits = 3 * word_bits
    step = 1 << min(_KEY_BITS - trigram_bits, 32)
    shared = np.zeros(pairs, np.int64)
    for start in range(0, pairs, step):
        stop = min(start + step, pairs)
        sides = []
        for first in (0, pairs):
            low, high = np.searchsorted(owners, (first + start, first + stop))
            keys = (owners[low:high] - first - start) << trigram_bits | trigrams[low:high]
            sides.append(np.unique(keys, return_counts=True))
        (source_keys, source_counts), (target_keys, target_counts) = sides
        common, in_source, in_target = np.intersect1d(
            source_keys, target_keys, assume_unique=True, return_indices=True
        )
        owner = start + (common >> trigram_bits)
        counts = np.where(of_source[owner], source_counts[in_source], target_counts[in_target])
        np.add.at(shared, owner, counts)
    return shared
