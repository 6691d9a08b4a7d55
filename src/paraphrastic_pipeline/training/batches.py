"""Mini-batches for the loss that takes negatives from them, so that no sentence should be there twice."""

from collections.abc import Iterator, Sequence

import numpy as np

from paraphrastic.base.arrays import Bool, Int64
from paraphrastic_pipeline.training.fingerprints import fingerprints
from paraphrastic_pipeline.training.groups import in_same_group
from paraphrastic_pipeline.training.sentences import Sentences


def same_meaning(sentences: Sentences) -> Bool:
    """Whether pair i and the target of pair j are known to mean the same, bool [n, n]; the diagonal is false.

    They do if the two pairs share a sentence, since all sentences of both then mean the same, or if the pairs
    are of one group. `sentences` are the sources of n pairs and then their targets.
    """
    source, target = fingerprints(sentences).reshape(2, -1)
    alike = np.zeros((len(source), len(source)), np.bool_)
    for side in (source, target):
        for other in (source, target):
            alike |= side[:, None] == other
    if (groups := sentences.pair_groups) is not None:
        alike[in_same_group(groups, slice(0, len(alike)))] = True
    np.fill_diagonal(alike, False)
    return np.asarray(alike)


def without_repetitions(sentences: Sentences, size: int) -> list[Int64]:
    """Distribute pairs over mini-batches of `size` so that no sentence or group is in one twice.

    There are as many mini-batches as without this. Each pair goes to the first one with room for it that has
    none of its sentences; if there is none, it changes places with another pair. If a sentence is in more
    pairs than there are mini-batches, it is repeated, and `same_meaning` tells where.

    Args:
        sentences: the sources of n pairs, and then their targets.
        size: pairs per mini-batch.

    Returns:
        The pairs of each mini-batch, in their order; together, all n once.
    """
    source, target = fingerprints(sentences).reshape(2, -1).tolist()
    keys: list[frozenset[object]] = [frozenset(pair) for pair in zip(source, target, strict=True)]
    if (groups := sentences.pair_groups) is not None:
        # In tuples, so that a group is not taken for a sentence.
        of_pairs = np.split(groups.tokens, groups.offsets[1:-1])
        keys = [
            key.union((group,) for group in of_pair.tolist())
            for key, of_pair in zip(keys, of_pairs, strict=True)
        ]
    count = -(-len(keys) // size)
    batches: list[list[int]] = [[] for _ in range(count)]
    held: list[set[object]] = [set() for _ in range(count)]
    waiting, first = [], 0
    for pair, held_by_pair in enumerate(keys):
        while len(batches[first]) == size:
            first += 1
        for number in range(first, count):
            if len(batches[number]) < size and held[number].isdisjoint(held_by_pair):
                batches[number].append(pair)
                held[number] |= held_by_pair
                break
        else:
            waiting.append(pair)
    for pair in waiting:
        place = min(range(count), key=lambda number: len(batches[number]))
        for number, other in _exchanges(keys, batches, held, pair, place):
            batches[number].remove(other)
            batches[number].append(pair)
            held[number] = set().union(*(keys[other] for other in batches[number]))
            pair = other
            break
        batches[place].append(pair)
        held[place] |= keys[pair]
    return [np.array(sorted(batch), np.int64) for batch in batches if batch]


def _exchanges(
    keys: Sequence[frozenset[object]],
    batches: Sequence[Sequence[int]],
    held: Sequence[set[object]],
    pair: int,
    place: int,
) -> Iterator[tuple[int, int]]:
    """Yield mini-batches where `pair` repeats nothing, each with a pair of it that fits into `place`."""
    if held[place].isdisjoint(keys[pair]):
        return
    for number, batch in enumerate(batches):
        if number != place and held[number].isdisjoint(keys[pair]):
            yield from ((number, other) for other in batch if held[place].isdisjoint(keys[other]))
