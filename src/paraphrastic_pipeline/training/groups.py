"""Pairs whose sentences mean the same, since they are of one group."""

import numpy as np

from paraphrastic.base.arrays import Int64
from paraphrastic_pipeline.training.sentences import Sentences


def shared_groups(groups: Sentences) -> tuple[Sentences, Sentences]:
    """The groups that several pairs are in: those of each pair, and the pairs of each, in ascending order.

    `groups` has the numbers of each pair's groups as tokens; the result numbers them from 0.
    """
    _, numbers, counts = np.unique(groups.tokens, return_inverse=True, return_counts=True)
    several = counts[numbers] > 1
    numbers = (np.cumsum(counts > 1) - 1)[numbers[several]]
    pairs = np.repeat(np.arange(len(groups)), groups.lengths)[several]
    return (
        _ragged(numbers, np.bincount(pairs, minlength=len(groups))),
        _ragged(pairs[np.argsort(numbers, kind="stable")], counts[counts > 1]),
    )


def in_same_group(groups: Sentences, rows: slice) -> tuple[Int64, Int64]:
    """Which pairs of `rows` are in a group with which others: places in `rows`, and the other pairs.

    A pair is in its own groups, too; two pairs that share several groups may be listed as often.
    """
    of_pairs, members = shared_groups(groups)
    of_rows = of_pairs.part(rows.start, rows.stop)
    alike = members.take(of_rows.tokens)
    places = np.repeat(np.arange(len(of_rows)), of_rows.lengths)
    return np.repeat(places, alike.lengths), alike.tokens.astype(np.int64)


def _ragged(tokens: Int64, lengths: Int64) -> Sentences:
    return Sentences(tokens.astype(np.int32), np.append(0, np.cumsum(lengths)))
