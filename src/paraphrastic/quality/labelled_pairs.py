"""Pairs of sentences of one's own, with or without labels."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paraphrastic.base.arrays import Float64, Int64
from paraphrastic.base.errors import InputError, shown
from paraphrastic.base.lines import Undecodable, read_lines
from paraphrastic.base.numbers import is_count, is_number, read_number
from paraphrastic.base.rows import Source, Told
from paraphrastic.base.text_files import text_input
from paraphrastic.model.encoder import BLOCK_SENTENCES

# The line of a pair, from 1, and its texts.
_Row = tuple[int, tuple[str, ...]]
# The file and the line of a label, and its text.
_Mark = tuple[str, int, str | Undecodable]
_TRUTHS = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True)
class LabelledPairs:
    """The pairs of a file.

    Attributes:
        name: the file.
        sources: first sentences, n.
        targets: second sentences, n.
        labels: their labels, [n]; None without labels.
        all_pairs: number of pairs in the file, of which these may be a sample.
        unreadable: number of other rows, which could not be read.
    """

    name: str
    sources: Sequence[str]
    targets: Sequence[str]
    labels: Float64 | None
    all_pairs: int
    unreadable: int = 0

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
        source: lines `sentence TAB sentence` or, with `labels=True`, `sentence TAB sentence TAB label`; or a
            table, whose columns are the sentences and, if there is a third one, their labels; or two files.
            Its `on_fault` is also told about a pair with an empty sentence or a label that is not a number,
            which is left out.
        labels: whether there is a third column with labels, or a file with a label on each line. Labels are
            numbers: 0 and 1, where 1 means that the sentences mean the same, or degrees of similarity; `true`
            and `false` are 1 and 0. A header above them is left out.
        most: a larger file is sampled to so many pairs; None reads all.
        seed: seed of the sample.

    Raises:
        InputError: a file cannot be read or has no pairs, there are not as many labels as pairs, or labels
            are all the same; see also `rows.Source`.
    """
    given = Source(source) if isinstance(source, str) else source
    labelled = labels is True or len(given.columns) == 3
    if given.others and labelled:
        raise InputError(f"{given.others[0]}: has the second sentences, so labels have a file of their own")
    hint = "" if labels else "; if the third one has labels, give --labels"
    read = replace(given, texts=3 if labelled else 2, labelled=labelled, hint=hint)
    name = read.path
    rows = [*_rows(read)]
    marks: list[_Mark | None] = [None] * len(rows)
    if labelled:
        marks = [row and (name, row[0], row[1][2]) for row in rows]
        # A table whose columns have names has no header among its rows.
        start = _has_header(marks) and (not read.is_table or all(map(is_count, read.columns)))
        rows, marks = rows[start:], marks[start:]
    elif labels:
        marks = [*_marks(str(labels))]
        if _has_header(marks):
            # The file of the pairs has a header, too, or not.
            rows = rows[len(rows) == len(marks) :]
            marks = marks[1:]
        if len(marks) != len(rows):
            raise InputError(f"{labels} has {len(marks)} labels, but {name} has {len(rows)} pairs")
    pairs, values, told = list[tuple[str, ...]](), list[float](), Told(name, read.on_fault)
    for row, mark in zip(rows, marks, strict=True):
        if row is None:
            continue
        line, texts = row
        if not (texts[0].strip() and texts[1].strip()):
            told.add(name, line, "a sentence is empty")
            continue
        if mark:
            path, line, text = mark
            try:
                values.append(_number(text))
            except ValueError as error:
                told.add(path, line, str(error))
                continue
        pairs.append(texts)
    told.check_end(len(rows))
    if not pairs:
        raise InputError(f"{name}: has no pairs")
    return _sampled(name, pairs, np.array(values) if values else None, len(rows), most, seed)


def _sampled(
    name: str, pairs: list[tuple[str, ...]], labels: Float64 | None, rows: int, most: int | None, seed: int
) -> LabelledPairs:
    """The pairs, or a sample of them, of which the file had so many rows."""
    if labels is not None and (labels == labels[0]).all():
        raise InputError(f"{name}: all {len(labels)} labels are {labels[0]:g}; two different ones are needed")
    chosen: Int64 = np.arange(len(pairs))
    if most is not None and len(pairs) > most:
        chosen = np.sort(np.random.default_rng(seed).choice(len(pairs), most, replace=False))
    sources, targets = ([pairs[place][side] for place in chosen.tolist()] for side in (0, 1))
    labels = None if labels is None else labels[chosen]
    return LabelledPairs(name, sources, targets, labels, len(pairs), rows - len(pairs))


def _rows(source: Source) -> Iterator[_Row | None]:
    """The rows of a source; None in the place of one that cannot be read."""
    for batch in source.batches(BLOCK_SENTENCES):
        for lines, texts in zip(batch.lines, zip(*batch.columns, strict=True), strict=True):
            yield lines and (lines[0], texts)


def _marks(path: str) -> Iterator[_Mark]:
    """The labels of a file, one on each line that is not blank."""
    with text_input(path) as stream:
        for number, line in enumerate(read_lines(stream, path), start=1):
            if isinstance(line, Undecodable) or line.strip():
                yield path, number, line


def _has_header(marks: Sequence[_Mark | None]) -> bool:
    """Whether the first of some labels is the name of their column: a word above a label."""
    texts = [mark[2] for mark in marks[:2] if mark and isinstance(mark[2], str)]
    return len(texts) == 2 and not _is_label(texts[0]) and texts[0][:1].isalpha() and _is_label(texts[1])


def _is_label(text: str) -> bool:
    return is_number(text) or text.strip().lower() in _TRUTHS


def _number(text: str | Undecodable) -> float:
    """A label as a number; a `ValueError` says why it is none."""
    if isinstance(text, Undecodable):
        raise ValueError(text.cause)
    if (truth := _TRUTHS.get(text.strip().lower())) is not None:
        return truth
    try:
        return read_number(text)
    except ValueError:
        raise ValueError(f"the label {shown(text)} is not a number") from None
