"""Trigram overlap of sentence pairs."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraphrastic.corpus.tokens import Tokenizer, Tokens, tokenise

_KEY_BITS = 63


def trigram_overlap(
    sources: pa.Array | Sequence[str],
    targets: pa.Array | Sequence[str],
    *,
    tokenizer: Tokenizer = "word",
) -> npt.NDArray[np.float32]:
    """Share of the shorter sentence's word trigrams that the other sentence has too: float32 [pairs].

    "Paraphrastic Representations at Scale", section on data: "calculated by counting trigrams in the two
    sentences, and then dividing the number of shared trigrams by the total number in the sentence with
    fewer tokens". Trigrams are counted with repetition: one that occurs twice in both sentences is shared
    twice, so the overlap is within [0, 1] and the same from either side. It is 0 where the shorter
    sentence has fewer than three words. Words are those of `tokens.tokenise`.
    """
    sources, targets = (pa.array(side, pa.string()) for side in (sources, targets))
    pairs = len(sources)
    tokens = tokenise(pa.concat_arrays([sources, targets]), tokenizer)
    word_bits = max(1, len(tokens.words).bit_length())
    if 3 * word_bits > _KEY_BITS:
        if pairs < 2:
            raise ValueError("a pair of more than two million words")
        middle = pairs // 2
        halves = [
            trigram_overlap(sources[:middle], targets[:middle], tokenizer=tokenizer),
            trigram_overlap(sources[middle:], targets[middle:], tokenizer=tokenizer),
        ]
        return np.concatenate(halves)
    shared = _shared_trigrams(tokens, pairs, word_bits)
    shorter = np.diff(tokens.offsets).reshape(2, pairs).min(axis=0) - 2
    return (shared / np.maximum(shorter, 1)).astype(np.float32)


def _shared_trigrams(tokens: Tokens, pairs: int, word_bits: int) -> npt.NDArray[np.int64]:
    """How many trigrams texts i and `pairs` + i share: int64 [pairs]."""
    ids = tokens.ids.astype(np.int64)
    owners = tokens.owners
    within = owners[:-2] == owners[2:]
    trigrams = ((ids[:-2] << word_bits | ids[1:-1]) << word_bits | ids[2:])[within]
    owners = owners[:-2][within]

    # Pair and trigram in one integer, so that sorting brings a pair's equal trigrams together; as many
    # pairs at a time as there are bits left.
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
        common, of_source, of_target = np.intersect1d(
            source_keys, target_keys, assume_unique=True, return_indices=True
        )
        counts = np.minimum(source_counts[of_source], target_counts[of_target])
        np.add.at(shared, start + (common >> trigram_bits), counts)
    return shared
