"""Sentences as flat arrays of tokens."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Int32, Int64


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences as flat tokens: sentence i is `tokens[offsets[i]:offsets[i + 1]]`.

    `others` holds the same sentences in other units. `groups` has, in place of tokens, the numbers of
    the groups that a sentence or its partner is in; all sentences of a group mean the same. It is None if
    nothing is known of groups.
    """

    tokens: Int32
    offsets: Int64
    others: "tuple[Sentences, ...]" = ()
    groups: "Sentences | None" = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Int64:
        """Number of tokens of each sentence, [n]."""
        return np.diff(self.offsets)

    def take(self, rows: npt.NDArray[np.integer]) -> "Sentences":
        """The sentences `rows`, in that order."""
        lengths = self.lengths[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        shift = np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths)
        others = tuple(unit.take(rows) for unit in self.others)
        groups = None if self.groups is None else self.groups.take(rows)
        return Sentences(self.tokens[shift + np.arange(offsets[-1])], offsets, others, groups)

    def part(self, start: int, stop: int) -> "Sentences":
        """The sentences from `start` up to `stop`."""
        offsets = self.offsets[start : stop + 1]
        others = tuple(unit.part(start, stop) for unit in self.others)
        groups = None if self.groups is None else self.groups.part(start, stop)
        tokens = self.tokens[offsets[0] : offsets[-1]]
        return Sentences(tokens, offsets - offsets[0], others, groups)

    @staticmethod
    def concatenate(parts: "list[Sentences]") -> "Sentences":
        """All sentences of `parts`, one part after the other."""
        lengths = np.concatenate([part.lengths for part in parts])
        tokens = np.concatenate([part.tokens for part in parts])
        others = zip(*(part.others for part in parts), strict=True)
        groups = [part.groups for part in parts if part.groups is not None]
        return Sentences(
            tokens,
            np.concatenate(([0], np.cumsum(lengths))),
            tuple(Sentences.concatenate(list(unit)) for unit in others),
            Sentences.concatenate(groups) if groups else None,
        )
