"""Tables for reading: figures with their intervals, and this run's rows above the published ones."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from paraphrastic.base.text import clean
from paraphrastic_pipeline.base.tables import read_csv, read_csv_with_header
from paraphrastic_pipeline.evaluation.results import bracketed

# A row of a CSV file, by the names of the columns.
Row = Mapping[str, str]

# What a system's name says about data that its figures are without, such as 2013 without SMT.
_WITHOUT = re.compile(r" \((\d{4} without [^()]+)\)")
_WORDS = {"avg": "average", "sts": "STS", "idf": "IDF", "f1": "F1"}


@dataclass(frozen=True, slots=True)
class Cell:
    """An entry: its text, the number that it holds, and the deviation and the interval of this number."""

    text: str
    value: float | None
    note: str


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row and its source: `measured`, `untrained`, `published` or empty."""

    cells: Sequence[Cell]
    source: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table: labels of the columns, whether each holds numbers, the rows by heading, and footnotes.

    The footnotes say what the figures are without, for rows whose names have a star.
    """

    columns: Sequence[str]
    numeric: Sequence[bool]
    groups: Mapping[str, Sequence[ShownRow]]
    footnotes: Sequence[str]


def number(text: str) -> float | None:
    """The number that a cell holds; None for any other text."""
    try:
        return float(text)
    except ValueError:
        return None


def read_rows(path: str | Path) -> list[dict[str, str]]:
    """Rows of a CSV file, without control characters, which no page or picture can hold."""
    return [{name: clean(cell) for name, cell in row.items()} for row in read_csv(path)]


def read_records(path: str | Path) -> list[Any]:
    """Rows of a CSV file as in `read_rows`, with the cells as attributes."""
    return [SimpleNamespace(**row) for row in read_rows(path)]


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
    """
    header, rows = read_csv_with_header(path)[0], read_rows(path)
    notes, papers = _read_intervals(intervals) if intervals else ({}, {})
    names = [name for name in header if not rows or any(row[name] for row in rows)]
    spans = _spans(names)
    hidden = {"source", "data", *(name for span in spans.values() for name in span.values())}
    columns = [name for name in names if name not in hidden]
    numeric = {name: all(number(row[name]) is not None for row in rows if row[name]) for name in columns}
    if "avg" in columns:
        # The average is what a reader looks for, and a phone shows only the first columns.
        labels = [name for name in columns if not numeric[name]]
        columns = [*labels, "avg", *(name for name in columns if name not in (*labels, "avg"))]
    groups: dict[str, list[ShownRow]] = {}
    footnotes: dict[str, None] = {}
    # The sort is stable: this run's rows keep their order, above the published ones.
    for row in sorted(rows, key=lambda row: row.get("source") == "published"):
        key = _key(row, row.get("pair", ""))
        system, without = plain_system(row.get("system", ""))
        footnotes |= dict.fromkeys(without)
        texts = {**row, "system": system + "*" * bool(without)}
        cells = []
        for name in columns:
            note = _note(**{kind: row[column] for kind, column in spans.get(name, {}).items()})
            cells.append(Cell(readable(texts[name]), number(row[name]), notes.get((*key, name), note)))
        groups.setdefault(_title(row, papers.get(key, "")), []).append(ShownRow(cells, row.get("source", "")))
    return Table([words(name) for name in columns], [numeric[name] for name in columns], groups, [*footnotes])


def _key(row: Row, pair: str) -> tuple[str, str, str]:
    return row.get("system", ""), row.get("source", ""), pair


def _read_intervals(path: Path) -> tuple[dict[tuple[str, ...], str], dict[tuple[str, ...], str]]:
    """The notes on figures, and the paper and table that rows are printed in, of a table of systems."""
    rows = read_rows(path)
    notes: dict[tuple[str, ...], str] = {
        (*_key(row, row["row"]), row["column"]): _note(
            **{kind: f"{float(row[kind]):.1f}" for kind in ("deviation", "low", "high") if row[kind]}
        )
        for row in rows
    }
    return notes, {_key(row, row["row"]): row["group"] for row in rows if row["group"]}


def _spans(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """The columns that hold a column's deviation or the ends of its interval, by the name of that column."""
    spans = {name: {"deviation": f"{name}_std"} for name in names if f"{name}_std" in names}
    spans |= {
        name: {"low": f"{name}_low", "high": f"{name}_high"} for name in names if f"{name}_low" in names
    }
    if "low" in names:
        spans[names[names.index("low") - 1]] = {"low": "low", "high": "high"}
    return spans


def _note(deviation: str = "", low: str = "", high: str = "") -> str:
    parts = [f"± {deviation}" if deviation else "", bracketed([low, high]) if low else ""]
    return " ".join(filter(None, parts)).replace("-", "−")


def _title(row: Row, paper: str) -> str:
    source = row.get("source")
    if source is None:
        return ""
    if source == "published":
        return f"Published: {paper}" if paper else "Published"
    return "This run, on sample data" if row.get("data") == "sample" else "This run"


def readable(text: str) -> str:
    """Format a number with a true minus sign and thousands separators; `yes` becomes ✓."""
    if text.isascii() and text.isdigit():
        return f"{int(text):,}"
    if re.fullmatch(r"-\d[\d.]*", text):
        return f"−{text[1:]}"
    return "✓" if text == "yes" else text


def words(name: str) -> str:
    """A column or table name in words for readers."""
    return _WORDS.get(name, name.replace("_", " "))
