"""Tables as the page shows them: figures with their intervals, this run's rows above the published ones."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_csv
from paraphrastic.evaluation.notes import Note, figure_key, number, read_notes

_WORDS = {"yes": "✓", "avg": "average", "sts": "STS", "idf": "IDF", "f1": "F1"}


@dataclass(frozen=True, slots=True)
class Cell:
    """An entry of a table.

    Attributes:
        text: as it is read.
        value: what rows are sorted by; None of an entry that is no number.
        note: how sure a figure is.
        best: whether it is better than all others, and the difference holds.
    """

    text: str
    value: float | None = None
    note: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row, with what is to be said of its source: `measured`, `untrained`, `published` or nothing."""

    cells: Sequence[Cell]
    source: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: labels of the columns, whether each has numbers, and the rows by their heading."""

    columns: Sequence[str]
    numeric: Sequence[bool]
    groups: Mapping[str, Sequence[Row]]


def read_rows(path: str | Path) -> list[dict[str, str]]:
    """Rows of a CSV file; an `InputError` if it is missing or damaged, or if nothing is in it."""
    if rows := read_csv(path):
        return rows
    raise InputError(f"{path}: there are no rows in it")


def read_table(path: Path, intervals: Path | None = None) -> Table:
    """Read a table of the pipeline's.

    Columns of intervals (`…_low` and `…_high`, or `low` and `high` after the column that they are of) and of
    deviations (`…_std`) become notes on their figures; columns without an entry are left out.

    Args:
        path: the CSV file.
        intervals: of a table of systems, the CSV file with its intervals; None if it is not there.

    Raises:
        InputError: a file is damaged, or nothing is in it.
    """
    rows = read_rows(path)
    notes = read_notes(intervals) if intervals else {}
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    spans = _spans(names)
    hidden = {"source", "data", *(name for span in spans.values() for name in span)}
    columns = [name for name in names if name not in hidden]
    # In a column of large numbers, all of them have their thousands apart.
    large = {name for name in columns if any(re.fullmatch(r"\d{5,}", row[name]) for row in rows)}
    numeric = [all(number(row[name]) is not None for row in rows if row[name]) for name in columns]
    groups: dict[str, list[Row]] = {}
    # Models stand in their order, each after what it was before training.
    for row in sorted(rows, key=lambda row: row.get("source") == "published"):
        found = {name: notes.get(figure_key(row, name)) for name in columns}
        title = _title(row, next((note.group for note in found.values() if note), ""))
        cells = [_cell(row, name, spans.get(name, ()), found[name], name in large) for name in columns]
        groups.setdefault(title, []).append(Row(cells, row.get("source", "")))
    return Table([words(name) for name in columns], numeric, groups)


def _title(row: Mapping[str, str], group: str) -> str:
    source = row.get("source")
    if source is None:
        return ""
    if source == "published":
        return f"Published: {group}" if group else "Published"
    return "This run, on sample data" if row.get("data") == "sample" else "This run"


def _spans(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The columns that say how sure those of a column are, by its name."""
    spans: dict[str, tuple[str, ...]] = {}
    for place, name in enumerate(names):
        if {f"{name}_low", f"{name}_high"} <= set(names):
            spans[name] = (f"{name}_low", f"{name}_high")
        elif f"{name}_std" in names:
            spans[name] = (f"{name}_std",)
        elif list(names[place + 1 : place + 3]) == ["low", "high"]:
            spans[name] = ("low", "high")
    return spans


def _cell(row: Mapping[str, str], name: str, span: Sequence[str], note: Note | None, large: bool) -> Cell:
    deviation, ends = (note.deviation, note.interval) if note else ("", ())
    around = [row[each] for each in span if row[each]]
    if len(around) == 1:
        deviation = around[0]
    elif around:
        deviation, ends = "", tuple(around)
    written = " ".join(filter(None, [deviation and f"± {deviation}", " – ".join(ends)]))
    text = readable(row[name], large=large)
    return Cell(text, number(row[name]), written.replace("-", "−"), bool(note and note.best))


def readable(text: str, *, large: bool = True) -> str:
    """A number with a true minus, its thousands apart if it is large; a word of the program's in ours."""
    if large and text.isascii() and text.isdigit():
        return f"{int(text):,}"
    if re.fullmatch(r"-\d[\d.]*", text):
        return f"−{text[1:]}"
    return _WORDS["yes"] if text == "yes" else text


def words(name: str) -> str:
    """A name of the program's as it is read."""
    return _WORDS.get(name, name.replace("_", " "))
