"""Tables for display: figures with their intervals, and on the page this run's rows above published ones."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import clean
from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.evaluation.percentages import bracketed

# A row of a CSV file, by the names of the columns.
Row = Mapping[str, str]

# What a system's name says about data that its figures are without, such as 2013 without SMT.
_WITHOUT = re.compile(r" \((\d{4} without [^()]+)\)")

_WORDS = {
    "yes": "✓",
    "avg": "average",
    "sts": "STS",
    "sts_datasets": "STS, mean of data sets",
    "idf": "IDF",
    "f1": "F1",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """An entry of a table.

    Attributes:
        text: the text to show.
        value: the number that rows are sorted by; None if the entry is not a number.
        note: how certain a figure is: its deviation and its interval.
    """

    text: str
    value: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class DisplayedRow:
    """A row and its source: `measured`, `untrained`, `published` or empty."""

    cells: Sequence[Cell]
    source: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        columns: labels of the columns.
        numeric: whether each column holds numbers.
        groups: the rows by heading.
        footnotes: what figures are without, for the rows whose names have a star.
    """

    columns: Sequence[str]
    numeric: Sequence[bool]
    groups: Mapping[str, Sequence[DisplayedRow]]
    footnotes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """What a table says about a figure beside its value.

    Attributes:
        deviation: standard deviation over training runs; empty if there is one run.
        interval: ends of the 95 % interval, low and high; empty for a published figure.
        group: the paper and the table that a published figure is printed in.
    """

    deviation: str = ""
    interval: tuple[str, ...] = ()
    group: str = ""

    def __str__(self) -> str:
        deviation = f"± {self.deviation}" if self.deviation else ""
        return " ".join(filter(None, [deviation, bracketed(self.interval) if self.interval else ""]))


class Notes:
    """The notes of a table, from the intervals of `tabulate_systems`; without that file there are none."""

    def __init__(self, intervals: Path | None) -> None:
        self._notes = {
            (row["system"], row["source"], row["row"], row["column"]): Note(
                _rounded(row["deviation"]),
                tuple(_rounded(row[end]) for end in ("low", "high") if row[end]),
                row["group"],
            )
            for row in (_rows(intervals) if intervals else ())
        }

    def __bool__(self) -> bool:
        return bool(self._notes)

    def of(self, row: Row, column: str) -> Note:
        """The note on the figure in this row and column; an empty note if there is none."""
        key = row.get("system", ""), row.get("source", ""), row.get("pair", ""), column
        return self._notes.get(key, Note())

    def group(self, row: Row) -> str:
        """The paper and the table that a row is printed in; empty if the row is not published."""
        return next((group for column in row if (group := self.of(row, column).group)), "")


def _rounded(number: str) -> str:
    return f"{float(number):.1f}" if number else ""


def number(text: str) -> float | None:
    """The number that a cell holds; None for any other text."""
    try:
        return float(text)
    except ValueError:
        return None


def read_rows(path: str | Path) -> list[dict[str, str]]:
    """Rows of a CSV file; an `InputError` if it is missing, damaged or empty."""
    if rows := _rows(path):
        return rows
    raise InputError(f"{path}: contains no rows")


def _rows(path: str | Path) -> list[dict[str, str]]:
    """Rows of a CSV file, without control characters, which no page or picture can hold."""
    return [{name: clean(cell) for name, cell in row.items()} for row in read_csv(path)]


def plain_system(name: str) -> tuple[str, list[str]]:
    """A system's name without what its figures are without, and that."""
    return _WITHOUT.sub("", name), _WITHOUT.findall(name)


def read_table(path: Path, intervals: Path | None = None) -> Table:
    """Read a table of the pipeline.

    Columns of intervals (`…_low` and `…_high`, or `low` and `high` after the column that they describe) and
    of deviations (`…_std`) become notes on their figures. Empty columns are left out.

    Args:
        path: the CSV file.
        intervals: the CSV file of intervals of a table of systems; None if there is none.

    Raises:
        InputError: a file is damaged, or the table is empty.
    """
    rows, notes = read_rows(path), Notes(intervals)
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    spans = _spans(names)
    hidden = {"source", "data", *(name for span in spans.values() for name in span)}
    columns = [name for name in names if name not in hidden]
    if "avg" in columns:
        # The average is what a reader looks for, and a phone shows only the first columns.
        texts = [name for name in columns if any(row[name] and number(row[name]) is None for row in rows)]
        columns = [*texts, "avg", *(name for name in columns if name not in (*texts, "avg"))]
    # If one number of a column is large, all its numbers get thousands separators.
    large = {name for name in columns if any(re.fullmatch(r"\d{5,}", row[name]) for row in rows)}
    numeric = [all(number(row[name]) is not None for row in rows if row[name]) for name in columns]
    groups: dict[str, list[DisplayedRow]] = {}
    footnotes: dict[str, None] = {}
    # The sort is stable: this run's rows keep their order, above the published ones.
    for row in sorted(rows, key=lambda row: row.get("source") == "published"):
        cells = [
            _cell(row, name, spans.get(name, ()), notes.of(row, name), name in large) for name in columns
        ]
        if "system" in columns:
            name, without = plain_system(row["system"])
            footnotes |= dict.fromkeys(without)
            place = columns.index("system")
            cells[place] = replace(cells[place], text=name + "*" * bool(without))
        group = notes.group(row)
        groups.setdefault(_title(row, group), []).append(DisplayedRow(cells, row.get("source", "")))
    return Table([words(name) for name in columns], numeric, groups, list(footnotes))


def _title(row: Row, group: str) -> str:
    source = row.get("source")
    if source is None:
        return ""
    if source == "published":
        return f"Published: {group}" if group else "Published"
    return "This run, on sample data" if row.get("data") == "sample" else "This run"


def _spans(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The columns that hold a column's interval or deviation, by the name of that column."""
    spans: dict[str, tuple[str, ...]] = {}
    for place, name in enumerate(names):
        if {f"{name}_low", f"{name}_high"} <= set(names):
            spans[name] = (f"{name}_low", f"{name}_high")
        elif f"{name}_std" in names:
            spans[name] = (f"{name}_std",)
        elif list(names[place + 1 : place + 3]) == ["low", "high"]:
            spans[name] = ("low", "high")
    return spans


def _cell(row: Row, name: str, span: Sequence[str], note: Note, large: bool) -> Cell:
    around = [row[column] for column in span if row[column]]
    if len(around) == 1:
        note = replace(note, deviation=around[0])
    elif around:
        note = replace(note, interval=tuple(around))
    text = readable(row[name], large=large)
    return Cell(text, number(row[name]), str(note).replace("-", "−"))


def readable(text: str, *, large: bool = True) -> str:
    """Format a number with a true minus sign and, if `large`, thousands separators; `yes` becomes ✓."""
    if large and text.isascii() and text.isdigit():
        return f"{int(text):,}"
    if re.fullmatch(r"-\d[\d.]*", text):
        return f"−{text[1:]}"
    return _WORDS["yes"] if text == "yes" else text


def words(name: str) -> str:
    """A column or table name in words for readers."""
    return _WORDS.get(name, name.replace("_", " "))
