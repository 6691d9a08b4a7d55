"""Which pairs are known to mean the same, so that they have no negatives for each other."""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Bool, Int32, Int64
from paraphrastic_pipeline.training.sentences import Sentences

_UInt64 = npt.NDArray[np.uint64]


class SameMeaning(NamedTuple):
    """The mask of a batch of n pairs: two pairs mean the same if they share a sentence or a group.

    It is a named tuple of arrays because compiled code reads it. A matrix of all pairs would not fit into
    memory.

    Attributes:
        has_copy: bool [n], whether a sentence of the pair occurs again.
        source_ids: int64 [n], fingerprints of the sources.
        target_ids: int64 [n], fingerprints of the targets.
        groups: int32, the groups that each pair shares with others, pair after pair.
        group_offsets: int64 [n + 1], where those of each pair begin.
        members: int32, the pairs of each group in ascending order, group after group.
        member_offsets: int64 [number of groups + 1], where those of each group begin.
    """

    has_copy: Bool
    source_ids: Int64
    target_ids: Int64
    groups: Int32
    group_offsets: Int64
    members: Int32
    member_offsets: Int64

    @classmethod
    def of(cls, sentences: Sentences, *, exclude_duplicates: bool = True) -> Self:
        """The mask of `sentences`, which are the sources of n pairs and then their targets.

        Without `exclude_duplicates`, a pair means the same as itself alone, as in the original code.
        """
        n = len(sentences) // 2
        ids = fingerprints(sentences)
        no_groups = Sentences(np.empty(0, np.int32), np.zeros(n + 1, np.int64))
        if exclude_duplicates:
            _, numbers, counts = np.unique(ids, return_inverse=True, return_counts=True)
            copies = counts[numbers] > 1
            has_copy = copies[:n] | copies[n:]
            groups, members = _shared_groups(sentences.pair_groups or no_groups)
        else:
            has_copy = np.zeros(n, np.bool_)
            groups, members = _shared_groups(no_groups)
        return cls(
            has_copy, ids[:n], ids[n:], groups.tokens, groups.offsets, members.tokens, members.offsets
        )  # fmt: skip

    def rows(self, pairs: Int64) -> Bool:
        """Whether each of these pairs means the same as each of the n pairs: bool [pairs, n]."""
        sides = self.source_ids, self.target_ids
        same = pairs[:, None] == np.arange(len(self.has_copy))
        for side in sides:
            for other in sides:
                same |= self.has_copy[pairs, None] & (side[pairs, None] == other)
        for row, pair in zip(same, pairs, strict=True):
            for group in self.groups[self.group_offsets[pair] : self.group_offsets[pair + 1]]:
                row[self.members[self.member_offsets[group] : self.member_offsets[group + 1]]] = True
        return same


def _shared_groups(groups: Sentences) -> tuple[Sentences, Sentences]:
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


def _ragged(tokens: Int64, lengths: Int64) -> Sentences:
    return Sentences(tokens.astype(np.int32), np.append(0, np.cumsum(lengths)))


def fingerprints(sentences: Sentences) -> Int64:
    """One number per sentence, int64 [n]: the same for equal ones, and almost surely another for others."""
    mixed = np.zeros(len(sentences), np.uint64)
    for unit in (sentences, *sentences.others):
        starts = np.repeat(unit.offsets[:-1], unit.lengths)
        position = np.arange(1, len(unit.tokens) + 1) - starts
        # 64-bit integers wrap around, so the differences of sums are exact.
        keys = unit.tokens.astype(np.uint64) << np.uint64(32) | position.astype(np.uint64)
        sums = np.append(np.uint64(0), np.cumsum(_mixed(keys)))
        mixed = _mixed(mixed + _mixed(sums[unit.offsets[1:]] - sums[unit.offsets[:-1]]))
    return mixed.view(np.int64)


def _mixed(values: _UInt64) -> _UInt64:
    """The finalizer of splitmix64: every input bit changes every output bit with probability ½."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values
