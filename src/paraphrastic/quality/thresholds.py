"""Which cosine means that two sentences mean the same: precision and recall by threshold."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from paraphrastic.base.arrays import Bool, Float64
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.model.encoder import Encoder
from paraphrastic.quality.correlation import ranked

# Cosines of the table, without those that no score or every score reaches.
_STEP = 0.05


class Threshold(NamedTuple):
    """Precision, recall and F1 if the pairs whose cosine is at least `threshold` are accepted."""

    threshold: float
    precision: float
    recall: float
    f1: float


class Thresholds:
    """Precision and recall at any threshold.

    Args:
        scores: cosines of n candidates, [n].
        right: whether each is right, [n].
        wanted: number of right ones that there are, also outside of the candidates; at least 1.
    """

    def __init__(self, scores: Float64, right: Bool, wanted: int) -> None:
        order = np.argsort(-scores, kind="stable")
        self._scores, self._wanted = scores[order], wanted
        self._hits = np.concatenate([[0], np.cumsum(right[order])])

    def at(self, threshold: float) -> Threshold:
        """Precision, recall and F1 at a threshold; the precision is 1 if nothing is accepted."""
        accepted = int(np.searchsorted(-self._scores, -threshold, side="right"))
        hits = int(self._hits[accepted])
        f1 = 2 * hits / (accepted + self._wanted)
        return Threshold(threshold, hits / accepted if accepted else 1.0, hits / self._wanted, f1)

    def table(self) -> list[Threshold]:
        """A row for each multiple of 0.05 between the lowest and the highest score."""
        first, last = np.ceil(self._scores[-1] / _STEP), np.floor(self._scores[0] / _STEP)
        return [self.at(round(_STEP * step, 2)) for step in range(int(first), int(last) + 1)]

    def best(self, precision: float | None = None) -> Threshold | None:
        """The threshold with the highest F1 or, with `precision`, the lowest one that reaches it.

        It lies half-way between the last accepted score and the next one. None if no threshold reaches the
        precision.
        """
        ends = np.flatnonzero(np.append(self._scores[1:] < self._scores[:-1], True))
        accepted = ends + 1
        hits = self._hits[accepted]
        if precision is None:
            last = int(ends[np.argmax(2 * hits / (accepted + self._wanted))])
        else:
            able = ends[hits >= precision * accepted]
            if not len(able):
                return None
            last = int(able[-1])
        score = float(self._scores[last])
        if last + 1 == len(self._scores):
            return self.at(score)
        between = (score + float(self._scores[last + 1])) / 2
        # The mean of two adjacent floating-point numbers is one of the two.
        return self.at(between if between > self._scores[last + 1] else score)


def auc(scores: Float64, right: Bool) -> float:
    """The probability that a right one of n scores is higher than a wrong one; equal ones count half."""
    positives = int(right.sum())
    ranks = float(ranked(scores)[right].sum())
    return (ranks - positives * (positives + 1) / 2) / (positives * (len(scores) - positives))


def read_threshold(path: Path, encoder: Encoder, *, of_all_pairs: bool = False) -> float:
    """The threshold that `evaluate` chose for an encoder and wrote into a file.

    With `of_all_pairs`, it has to be one for any two sentences, and not for the nearest one alone.

    Raises:
        InputError: the file is not one of `evaluate`, or has no such threshold for this encoder.
    """
    content = read_json(path)
    try:
        entries = {entry["digest"]: entry for entry in content["models"]}
    except (KeyError, TypeError):
        raise InputError(f"{path}: is neither a number nor a file of `paraphrastic evaluate`") from None
    entry = entries.get(encoder.digest, {})
    if not isinstance(value := entry.get("threshold"), int | float):
        names = ", ".join(str(other.get("label")) for other in entries.values() if "threshold" in other)
        raise InputError(
            f"{path}: has no threshold for {encoder.label} as it is now, but for {names or 'no model'}"
        )
    if of_all_pairs and "auc" not in entry:
        raise InputError(
            f"{path}: its threshold is for the nearest sentence, but here all pairs are compared; find one "
            "with `evaluate --labels`"
        )
    return float(value)
