"""Pairs of sentences of one's own, with or without labels."""

import hashlib
import re
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
# What programs write where a label is missing, which is no name of a column.
_MISSING = {"nan", "na", "n/a", "null", "none", "nat"}
_NAME = re.compile(r"\w+([ -]\w+)?")


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
            and `false` are 1 and 0. A header of words above them is left out.
        most: a larger file is sampled to so many pairs; None reads all.
        seed: seed of the sample.

    Raises:
        InputError: a file cannot be read or has no pairs, there are not as many labels as pairs, or labels
            are all the same; see also `rows.Source`.
    """
    given = Source(source) if isinstance(source, str) else source
    faults: list[str] = []

    def tell(place: str, cause: str) -> None:
        faults.append(place)
        if given.on_fault:
            given.on_fault(place, cause)

    labelled = labels is True or len(given.columns) == 3
    if given.others and labelled:
        raise InputError(f"{given.others[0]}: has the second sentences, so labels have a file of their own")
    read = replace(
        given,
        texts=3 if labelled else 2,
        labelled=labelled,
        hint="" if labels else "; if the third one has labels, give --labels",
        on_fault=given.on_fault and tell,
    )
    rows = [*_rows(read)]
    marks: list[_Mark | None] = [None] * len(rows)
    if labelled:
        marks = [row and (read.path, row[0], row[1][2]) for row in rows]
        start = _has_header(marks) and _may_be_header(rows[0], read)
        rows, marks = rows[start:], marks[start:]
    elif labels:
        rows, marks = _beside(rows, [*_marks(str(labels))], read, str(labels))
    told = Told(read.path, read.on_fault)
    pairs, values = _readable(rows, marks, told)
    told.count = len(faults)
    told.check_end(len(rows))
    if not pairs:
        raise InputError(f"{read.path}: has no pairs")
    if values and min(values) == max(values):
        cause = f"all {len(values)} labels are {values[0]:g}; two different ones are needed"
        raise InputError(f"{read.path}: {cause}")
    chosen: Int64 = np.arange(len(pairs))
    if most is not None and len(pairs) > most:
        chosen = np.sort(np.random.default_rng(seed).choice(len(pairs), most, replace=False))
    sources, targets = ([pairs[place][side] for place in chosen.tolist()] for side in (0, 1))
    kept = np.array(values)[chosen] if values else None
    return LabelledPairs(read.path, sources, targets, kept, len(pairs), len(faults))


def _readable(
    rows: Sequence[_Row | None], marks: Sequence[_Mark | None], told: Told
) -> tuple[list[tuple[str, ...]], list[float]]:
    """The texts and labels of the pairs that have both sentences and, if there are labels, a good one."""
    pairs, values = list[tuple[str, ...]](), list[float]()
    for row, mark in zip(rows, marks, strict=True):
        if row is None:
            continue
        line, texts = row
        if not (texts[0].strip() and texts[1].strip()):
            told.add(told.path, line, "a sentence is empty")
            continue
        if mark:
            path, line, text = mark
            try:
                values.append(_number(text))
            except ValueError as error:
                told.add(path, line, str(error))
                continue
        pairs.append(texts)
    return pairs, values


def _rows(source: Source) -> Iterator[_Row | None]:
    """The rows of a source; None in the place of one that cannot be read."""
    for batch in source.batches(BLOCK_SENTENCES):
        for lines, texts in zip(batch.lines, zip(*batch.columns, strict=True), strict=True):
            yield lines and (lines[0], texts)


def _marks(path: str) -> Iterator[_Mark]:
    """The labels of a file, one on each line."""
    with text_input(path) as stream:
        for number, line in enumerate(read_lines(stream, path), start=1):
            yield path, number, line


def _beside(
    rows: list[_Row | None], marks: list[_Mark], source: Source, path: str
) -> tuple[list[_Row | None], list[_Mark | None]]:
    """Rows and the labels of a file, side by side: without a header and blank lines at the end.

    Raises:
        InputError: there are not as many labels as rows.
    """
    start = _has_header(marks)
    labels = marks[start:]
    while len(labels) > len(rows) and not _text(labels[-1][2]).strip():
        labels.pop()
    while len(rows) > len(labels) and (rows[-1] is None or not "".join(rows[-1][1]).strip()):
        rows.pop()
    if len(labels) != len(rows):
        cause = f"{path} has {len(labels)} labels, but {source.path} has {len(rows)} pairs"
        if start and len(labels) + 1 == len(rows):
            # It is not known whether the first row is a header or a label is missing.
            cause += f"; {shown(marks[0][2])} is taken for a header, so if both have one, remove both, "
            cause += "or give --columns"
        raise InputError(cause)
    return rows, [*labels]


def _text(line: str | Undecodable) -> str:
    return line.text if isinstance(line, Undecodable) else line


def _may_be_header(row: _Row | None, source: Source) -> bool:
    """Whether a row may be a header: the names of columns, of one or two words, that no one else has read."""
    if row is None or (source.is_table and not (source.columns and all(map(is_count, source.columns)))):
        return False
    return all(_NAME.fullmatch(text.strip()) for text in row[1])


def _has_header(marks: Sequence[_Mark | None]) -> bool:
    """Whether the first of some labels is the name of their column: a word above labels."""
    if not marks or marks[0] is None or isinstance(first := marks[0][2], Undecodable):
        return False
    others = (mark[2] for mark in marks[1:] if mark)
    is_name = first[:1].isalpha() and not _is_label(first) and first.strip().lower() not in _MISSING
    return is_name and any(isinstance(text, str) and _is_label(text) for text in others)


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
