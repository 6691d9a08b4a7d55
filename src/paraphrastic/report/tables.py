"""Tables as the page shows them: figures with their intervals, this run's rows above the published ones."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paraphrastic.base.errors import InputError

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
class Group:
    """Rows under one heading; an empty one of a table that has no groups."""

    title: str
    rows: list[Row] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: labels of the columns, whether each has numbers, and the rows."""

    columns: Sequence[str]
    numeric: Sequence[bool]
    groups: Sequence[Group]


@dataclass(frozen=True, slots=True)
class _Note:
    text: str
    best: bool
    group: str


def read_rows(path: str | Path) -> list[dict[str, str]]:
    """Rows of a CSV file; an `InputError` if it is missing or damaged, or if nothing is in it."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, restval="", strict=True))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: not readable: {error}") from None
    if not rows:
        raise InputError(f"{path}: there are no rows in it")
    if any(None in row for row in rows):
        raise InputError(f"{path}: a row has more entries than the header")
    return rows


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
    notes = _notes(intervals) if intervals else {}
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    spans = _spans(names)
    hidden = {"source", "data", *(name for span in spans.values() for name in span)}
    columns = [name for name in names if name not in hidden]
    # In a column of large numbers, all of them have their thousands apart.
    large = {name for name in columns if any(re.fullmatch(r"\d{5,}", row[name]) for row in rows)}
    numeric = [all(_number(row[name]) is not None for row in rows if row[name]) for name in columns]
    groups: dict[str, Group] = {}
    # Models stand in their order, each after what it was before training.
    for row in sorted(rows, key=lambda row: row.get("source") == "published"):
        key = [row.get(name, "") for name in ("system", "source", "pair")]
        found = {name: notes.get((*key, name)) for name in columns}
        title = _title(row, next((note.group for note in found.values() if note), ""))
        cells = [_cell(row, name, spans.get(name, ()), found[name], name in large) for name in columns]
        groups.setdefault(title, Group(title)).rows.append(Row(cells, row.get("source", "")))
    return Table([words(name) for name in columns], numeric, list(groups.values()))


def _title(row: Mapping[str, str], group: str) -> str:
    source = row.get("source")
    if source is None:
        return ""
    if source == "published":
        return f"Published: {group}" if group else "Published"
    return "This run, on sample data" if row.get("data") == "sample" else "This run"


def _notes(path: Path) -> dict[tuple[str, ...], _Note]:
    return {
        (row["system"], row["source"], row["row"], row["column"]): _Note(
            _sampling(row), row["best"] == "yes", row["group"]
        )
        for row in read_rows(path)
    }


def _sampling(row: Mapping[str, str]) -> str:
    deviation = f"± {float(row['deviation']):.1f} " if row["deviation"] else ""
    interval = f"{float(row['low']):.1f} – {float(row['high']):.1f}" if row["low"] else ""
    return (deviation + interval).strip()


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


def _cell(row: Mapping[str, str], name: str, span: Sequence[str], note: _Note | None, large: bool) -> Cell:
    text, value = row[name], _number(row[name])
    around = [row[each] for each in span if row[each]]
    written = note.text if note else ""
    if len(around) == 2:
        written = " – ".join(around)
    elif around:
        written = f"± {around[0]}"
    return Cell(readable(text, large=large), value, written.replace("-", "−"), bool(note and note.best))


def readable(text: str, *, large: bool = True) -> str:
    """A number with a true minus, its thousands apart if it is large; a word of the program's in ours."""
    if large and text.isascii() and text.isdigit():
        return f"{int(text):,}"
    if re.fullmatch(r"-\d[\d.]*", text):
        return f"−{text[1:]}"
    return _WORDS["yes"] if text == "yes" else text


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def words(name: str) -> str:
    """A name of the program's as it is read."""
    return _WORDS.get(name, name.replace("_", " "))
