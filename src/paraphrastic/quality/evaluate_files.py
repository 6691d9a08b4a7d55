"""The command `paraphrastic evaluate`: how good systems are on a file of pairs."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paraphrastic.base.arrays import Float64, Int64
from paraphrastic.base.errors import InputError, shown
from paraphrastic.base.files import Json
from paraphrastic.base.numbers import is_number, read_number
from paraphrastic.base.rows import Source
from paraphrastic.base.text_files import read_sentences
from paraphrastic.model.encoder import BLOCK_SENTENCES
from paraphrastic.model.system import System
from paraphrastic.quality.correlation import MIN_PAIRS, pearson, spearman
from paraphrastic.quality.retrieval import NEAREST, PairVectors, Retrieval, Z, wilson
from paraphrastic.quality.thresholds import Thresholds, auc, written


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
    source: str,
    *,
    columns: Sequence[str] = (),
    labels: str | bool = False,
    most: int | None = None,
    seed: int = 0,
) -> LabelledPairs:
    """Read a file of pairs.

    Args:
        source: lines `sentence TAB sentence` or, with `labels=True`, `sentence TAB sentence TAB label`;
            plain or compressed; `-` is standard input. With `columns`, a table.
        columns: the columns of a table with the sentences and, if there is a third one, their labels.
        labels: whether there is a third column with labels, or a file with a label on each line. Labels are
            numbers: 0 and 1, where 1 means that the sentences mean the same, or degrees of similarity. A
            header above them is left out.
        most: a larger file is sampled to so many pairs; None reads all.
        seed: seed of the sample.

    Raises:
        InputError: a file cannot be read or has no pairs, a line does not have these columns or has an empty
            sentence, a label is not a number, or labels are all the same.
    """
    if columns:
        labels = labels or len(columns) == 3
        rows = [_checked(source, number, cells) for number, cells in _table(source, columns)]
    else:
        width = 3 if labels is True else 2
        rows = [_cells(source, number, line, width) for number, line in _lines(source)]
    values = None
    if labels is True:
        rows = rows[_has_header([cells[2] for _, cells in rows]) :]
        values = np.array([_label(source, number, cells[2]) for number, cells in rows])
    elif labels:
        lines = [*_lines(labels)]
        if _has_header([line for _, line in lines]):
            # The file of the pairs has a header, too, or not.
            rows = rows[len(rows) == len(lines) :]
            lines = lines[1:]
        if len(lines) != len(rows):
            raise InputError(f"{labels} has {len(lines)} labels, but {source} has {len(rows)} pairs")
        values = np.array([_label(labels, number, line) for number, line in lines])
    if not rows:
        raise InputError(f"{source}: has no pairs")
    if values is not None and (values == values[0]).all():
        raise InputError(
            f"{source}: all {len(values)} labels are {values[0]:g}; two different ones are needed"
        )
    chosen: Int64 = np.arange(len(rows))
    if most is not None and len(rows) > most:
        chosen = np.sort(np.random.default_rng(seed).choice(len(rows), most, replace=False))
        values = None if values is None else values[chosen]
    pairs = [rows[place][1] for place in chosen.tolist()]
    return LabelledPairs(source, [pair[0] for pair in pairs], [pair[1] for pair in pairs], values, len(rows))


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers from 1."""
    numbered = enumerate(read_sentences(path), start=1)
    return ((number, line) for number, line in numbered if line.strip())


def _table(path: str, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The cells of the columns of a table, with the numbers of their lines."""
    label = columns[2] if len(columns) == 3 else None
    for batch in Source(path, columns[:2], label, texts=2).batches(BLOCK_SENTENCES):
        # Nothing else could be read, so each row has its lines.
        for lines, own, *pair in zip(batch.lines, batch.identities, *batch.columns, strict=True):
            yield (lines or (0, 0))[0], [*pair, *([] if label is None else [str(own)])]


def _cells(name: str, number: int, line: str, columns: int) -> tuple[int, list[str]]:
    cells = line.split("\t")
    if len(cells) != columns:
        hint = ""
        if columns == 2 and len(cells) == 3:
            hint = "; if the third one has labels, give --labels"
        raise InputError(f"{name}:{number}: {len(cells)} columns where {columns} are expected{hint}")
    return _checked(name, number, cells)


def _checked(name: str, number: int, cells: list[str]) -> tuple[int, list[str]]:
    if not (cells[0].strip() and cells[1].strip()):
        raise InputError(f"{name}:{number}: a sentence is empty")
    return number, cells


def _has_header(labels: Sequence[str]) -> bool:
    """Whether the first of some labels is the name of their column: a word above numbers."""
    return len(labels) > 1 and not is_number(labels[0]) and labels[0][:1].isalpha() and is_number(labels[1])


def _label(name: str, number: int, text: str) -> float:
    try:
        return read_number(text)
    except ValueError:
        raise InputError(f"{name}:{number}: the label {shown(text)} is not a number") from None


def evaluate_pairs(
    system: System,
    pairs: LabelledPairs,
    *,
    model: str,
    languages: tuple[str | None, str | None] = (None, None),
    precision: float | None = None,
    threads: int = 1,
) -> Json:
    """Measure a system, which `--model` calls `model`, on pairs; shares are from 0 to 1.

    Returns:
        `model`, `label` and `digest` of the system; `dim`; and, without labels, `forward` and `backward`: the
        share of sentences whose `nearest` sentence on the other side is a partner, its 95 % `interval`
        (Wilson), and the share with a partner among the ten nearest, `among_10`. With labels 0 and 1, `auc`
        and its `interval` (Hanley and McNeil 1982). With other labels, `spearman`, its `interval` (by
        Fisher's transformation) and `pearson`. Unless labels are degrees, also `thresholds`, a list of
        `threshold`, `precision`, `recall` and `f1`; `best`, the one with the highest F1 or, if a `precision`
        is asked for, the lowest that reaches it; and its `threshold`. Without labels, these are about the
        nearest sentence, which is accepted if its cosine reaches the threshold.

    Raises:
        InputError: a vector is not finite, there are too few pairs for a correlation, or no threshold
            reaches the precision.
    """
    vectors = PairVectors(system, (pairs.sources, pairs.targets), languages, name=pairs.name)
    measured: Json = {"model": model, "label": system.label, "digest": system.digest, "dim": system.dim}
    if pairs.labels is None:
        found = vectors.retrieve(threads=threads)
        sides = zip(("forward", "backward"), found, strict=True)
        measured |= {name: _shares(retrieval) for name, retrieval in sides}
        scores, right = found[0].cosines[:, 0], found[0].hits
        return measured | _chosen(Thresholds(scores, right, len(right)), precision, system)
    scores = vectors.cosines()
    if pairs.are_graded:
        rho = spearman(scores, pairs.labels, name=pairs.name)
        room = Z * math.sqrt((1 + rho**2 / 2) / max(1, len(scores) - MIN_PAIRS))
        # Fisher's transformation of 1 is infinite.
        z = math.atanh(max(-1 + 1e-15, min(1 - 1e-15, rho)))
        interval = [math.tanh(z - room), math.tanh(z + room)]
        r = pearson(scores, pairs.labels, name=pairs.name)
        return measured | {"spearman": rho, "interval": interval, "pearson": r}
    right = pairs.labels == 1
    area = auc(scores, right)
    measured |= {"auc": area, "interval": _interval_of_area(area, int(right.sum()), len(right))}
    return measured | _chosen(Thresholds(scores, right, int(right.sum())), precision, system)


def _shares(retrieval: Retrieval) -> Json:
    hits, n = int(retrieval.hits.sum()), len(retrieval.hits)
    return {
        "nearest": hits / n,
        "interval": list(wilson(hits, n)),
        f"among_{NEAREST}": float(retrieval.hits_among_nearest.mean()),
    }


def _chosen(thresholds: Thresholds, precision: float | None, system: System) -> Json:
    if (best := thresholds.best(precision)) is None:
        raise InputError(f"{system.label}: no threshold has a precision of {precision:g}")
    (row,) = written([best])
    return {"thresholds": written(thresholds.table()), "best": row, "threshold": row["threshold"]}


def _interval_of_area(area: float, positives: int, n: int) -> list[float]:
    """The 95 % interval of an area under the curve (Hanley and McNeil 1982)."""
    negatives = n - positives
    of_positives, of_negatives = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area)
    variance += (positives - 1) * (of_positives - area**2) + (negatives - 1) * (of_negatives - area**2)
    room = Z * math.sqrt(max(0.0, variance / (positives * negatives)))
    return [max(0.0, area - room), min(1.0, area + room)]


def about(pairs: LabelledPairs) -> Json:
    """What a file of `evaluate` says about its pairs: how many were used, of how many, and their digest."""
    return {"pairs": pairs.name, "digest": pairs.digest, "n": len(pairs.sources), "of": pairs.all_pairs}


def described(result: Json, pairs: LabelledPairs) -> list[str]:
    """Lines that tell people a result of `evaluate_pairs`: a sentence, and a table of thresholds."""
    label, n = result["label"], len(pairs.sources)

    def interval(ends: Sequence[float]) -> str:
        low, high = (100 * end for end in ends)
        return f" (n = {n:,}, 95 % interval {low:.1f} to {high:.1f})"

    if "auc" in result:
        lines = [
            f"{label}: a pair with the label 1 scores higher than one with the label 0 in "
            f"{_percent(result['auc'])} of the cases (AUC){interval(result['interval'])}"
        ]
    elif "spearman" in result:
        lines = [
            f"{label}: Spearman's ρ with the labels is {100 * result['spearman']:.1f} and Pearson's r "
            f"{100 * result['pearson']:.1f}{interval(result['interval'])}"
        ]
    else:
        forward, backward = result["forward"], result["backward"]
        lines = [
            f"{label}: {_percent(forward['nearest'])} of the sentences find their partner"
            f"{interval(forward['interval'])}, and {_percent(backward['nearest'])} in the other direction; "
            f"{_percent(forward[f'among_{NEAREST}'])} have it among the {NEAREST} nearest"
        ]
    if "thresholds" in result:
        lines += ["", "threshold  precision  recall     F1", *map(_row, result["thresholds"])]
        lines.append(f"{_row(result['best'])}  chosen")
    return lines


def _row(row: Json) -> str:
    precision, recall, f1 = (100 * row[name] for name in ("precision", "recall", "f1"))
    return f"{row['threshold']:9.3f}  {precision:9.1f}  {recall:6.1f}  {f1:5.1f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def open_place(text: str) -> str | dict[str, str]:
    """A system as `--model` takes it: a place, or KIND=PLACE for a kind of `systems:`."""
    kind, equals, place = text.partition("=")
    if not equals or Path(text).exists() or kind not in ("path", "sentence_transformers", "model2vec"):
        return text
    return {kind: place, "label": Path(place).name or place}
