"""Pairs of sentences of one's own, with or without labels."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paraphrastic.base.arrays import Float64, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.base.numbers import read_number
from paraphrastic.base.rows import BadRow, Source
from paraphrastic.base.text_files import line_batches

_TRUTHS = {"true": 1.0, "false": 0.0}
# The file of a label, its line, and its text.
_Mark = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class LabelledPairs:
    """The pairs of a file.

    Attributes:
        name: the file.
        sources: first sentences, n.
        targets: second sentences, n.
        labels: their labels, [n]; None without labels.
        all_pairs: number of pairs in the file, of which these may be a sample.
    """

    name: str
    sources: Sequence[str]
    targets: Sequence[str]
    labels: Float64 | None
    all_pairs: int

    @property
    def are_graded(self) -> bool:
        """Whether labels are degrees, and not 0 and 1 alone."""
        return self.labels is not None and not np.isin(self.labels, (0, 1)).all()

    @property
    def digest(self) -> str:
        """Digest of the pairs and their labels."""
        labels = [] if self.labels is None else self.labels.tolist()
        content = repr((list(self.sources), list(self.targets), labels))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def read_pairs(
    source: str | Source, *, labels: str | bool = False, most: int | None = None, seed: int = 0
) -> LabelledPairs:
    """Read a file of pairs.

    Args:
        source: lines, or a table, with two sentences and, perhaps, a label; or two files. A pair with an
            empty sentence or a label that is not a number cannot be read.
        labels: whether there is a third column with labels, or a file with a label on each line. Labels are
            numbers: 0 and 1, where 1 means the same, or degrees of similarity; `true` and `false` are 1 and
            0. A header above them, whose label is a word, is left out.
        most: a larger file is sampled to so many pairs; None reads all.
        seed: seed of the sample.

    Raises:
        InputError: a file cannot be read or has no pairs, there are not as many labels as pairs, or labels
            are all the same; see also `rows.Source`.
    """
    given = Source(source) if isinstance(source, str) else source
    labelled = labels is True or len(given.columns) == 3
    if given.second and labelled:
        raise InputError(f"{given.second}: has the second sentences, so labels have a file of their own")
    read = replace(given, texts=3 if labelled else 2)
    ids, rows = list[Any](), list[tuple[Any, ...]]()
    for batch in read.batches():
        ids += batch.ids
        rows += zip(batch.first, *batch.columns, strict=True)
    marks: list[_Mark] = [(read.path, row[0], str(row[-1])) for row in rows]
    if labels and not labelled:
        path = str(labels)
        marks = [(path, *mark) for some in line_batches(path) for mark in zip(*some, strict=True)]
    # A table says itself which row is its header.
    if labels and marks and _is_header(marks[0][-1]) and not (labelled and read.kind):
        rows, marks = rows[1:] if labelled else rows, marks[1:]
    if not labelled and len(ids) < len(marks) and read.on_bad:
        marks = [marks[number - 1] for number in ids if number <= len(marks)]
    if len(marks) != len(rows):
        raise InputError(f"{labels} has {len(marks)} labels, but {read.path} has {len(rows)} pairs")
    pairs, values = list[tuple[str, str]](), list[float]()
    for (line, source_text, target_text, *_), (path, number, label) in zip(rows, marks, strict=True):
        try:
            if not (source_text.strip() and target_text.strip()):
                path, number = read.path, line
                raise ValueError("a sentence is empty")
            if labels or labelled:
                values.append(_number(label))
            pairs.append((source_text, target_text))
        except ValueError as error:
            read.reject(BadRow(path, number, number, str(error)))
    if not pairs:
        raise InputError(f"{read.path}: has no pairs")
    if values and min(values) == max(values):
        cause = f"all {len(values)} labels are {values[0]:g}; two different ones are needed"
        raise InputError(f"{read.path}: {cause}")
    chosen: Int64 = np.arange(len(pairs))
    if most is not None and len(pairs) > most:
        chosen = np.sort(np.random.default_rng(seed).choice(len(pairs), most, replace=False))
    sources, targets = zip(*(pairs[index] for index in chosen.tolist()), strict=True)
    numbers = np.array(values)[chosen] if values else None
    return LabelledPairs(read.path, sources, targets, numbers, len(pairs))


def _is_header(label: str) -> bool:
    """Whether the first of some labels is the name of their column: a word."""
    return label.strip()[:1].isalpha() and label.strip().lower() not in (*_TRUTHS, "nan", "none", "null")


def _number(text: str) -> float:
    """A label as a number; a `ValueError` says why it is none."""
    truth = _TRUTHS.get(text.strip().lower())
    return read_number(text) if truth is None else truth
