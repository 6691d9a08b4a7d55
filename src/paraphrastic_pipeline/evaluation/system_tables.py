"""Tables of systems: published figures above measured ones, and the intervals of the measured ones."""

from collections.abc import Iterator, Mapping, Sequence
from math import hypot
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple, Self

from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.results import Measured, Result, percent
from paraphrastic_pipeline.evaluation.tasks import LAYOUTS, Layout

# The row that gathers models is named after their encoder, followed by this.
GATHERED = "one model per language"
INTERVAL_COLUMNS = [
    "name", "system", "source", "data", "row", "column", "value", "low", "high", "deviation", "n", "group",
]  # fmt: skip


class Entry(NamedTuple):
    """A figure in a table: its value, the ends of its interval, and its deviation over training runs."""

    value: float
    low: float
    high: float
    n: int
    deviation: float | None = None

    @classmethod
    def mean_of_runs(cls, runs: Sequence[Measured]) -> Self:
        """The mean of the figures of training runs, which have the same test data."""
        values = [run.value for run in runs]
        low, high = (fmean(ends) for ends in zip(*(run.interval for run in runs), strict=True))
        return cls(fmean(values), low, high, runs[0].n, stdev(values) if len(runs) > 1 else None)

    @classmethod
    def mean_of_data(cls, entries: Sequence[Self]) -> Self:
        """The mean of figures on several test sets, whose errors are independent."""
        count, value = len(entries), fmean(entry.value for entry in entries)
        below = hypot(*(entry.low - entry.value for entry in entries)) / count
        above = hypot(*(entry.high - entry.value for entry in entries)) / count
        return cls(value, value - below, value + above, sum(entry.n for entry in entries))


class Row(NamedTuple):
    """A row: the name of a system in the configuration, cells that are no figures, and figures by column."""

    name: str
    about: dict[str, str]
    entries: Mapping[str, Entry]

    def with_mean(self) -> "Row":
        """The row with the mean of its figures as `avg`."""
        return self._replace(entries={**self.entries, "avg": Entry.mean_of_data([*self.entries.values()])})

    def intervals(self) -> Iterator[dict[str, str]]:
        """The rows of the file of intervals."""
        about = {**self.about, "name": self.name, "row": self.about.get("pair", "")}
        for column, entry in self.entries.items():
            numbers = {
                name: percent(number, 4) for name, number in entry._asdict().items() if number is not None
            }
            yield {**about, "column": column, **numbers, "n": str(entry.n)}


def tabulate_systems(
    systems: Mapping[str, Sequence[str | Path]],
    name: str,
    table: Path,
    intervals: Path,
    *,
    published: Path | None = None,
    gather: Sequence[str] = (),
) -> None:
    """Write a table of systems, and a file of every figure with its interval.

    Published rows come first, and are left out unless all measured rows are on official test data. A figure
    is the mean over a system's training runs. If a system has no figure for a column, the cell is empty.

    Args:
        systems: JSON files of `write_result`, one per training run, by the system's name, in the order of
            the rows.
        name: name of the table in `LAYOUTS`.
        table: a CSV file with `system`, `source`, `data`, and the columns of the layout.
        intervals: CSV file with a row for each figure: `name` of the system in the configuration, `system`,
            `source` and `data`; `row` and `column` of the table; `value`, in the table's unit. A published
            figure has its paper and table as `group`. A measured one has the 95 % interval `low` to `high`
            over resamples of the test data; `deviation`, over training runs if there are several; and `n`.
        published: CSV file with published rows in the same columns; None if there are none.
        gather: systems of one language pair each. They also share a row, whose `name` is *.
    """
    layout = LAYOUTS[name]
    results = {system: [Result.read(path) for path in paths] for system, paths in systems.items()}
    every = [result for runs in results.values() for result in runs]
    columns = layout.columns_of(name for result in every for name in result.measurements)
    rows = [row for system, runs in results.items() for row in _rows(system, runs, layout, columns)]
    if "pair" not in layout.fields:
        rows = [*gathered([row for row in rows if row.name in gather], [*columns]), *rows]
    names = [*columns]
    if layout.prefix:
        names.append("avg")
        rows = [row.with_mean() if len(row.entries) > 1 else row for row in rows]
    official = all(result.data == "official" for result in every)
    known = _published(published, layout, columns) if published and official else []
    shown = [
        row.about | {column: percent(entry.value, layout.digits) for column, entry in row.entries.items()}
        for row in rows
    ]
    write_csv(table, ["system", "source", "data", *layout.fields, *names], [*known, *shown])
    printed = [
        {**row, "row": row.get("pair", ""), "column": column, "value": row[column]}
        for row in known
        for column in names
        if row[column]
    ]
    write_csv(intervals, INTERVAL_COLUMNS, [*printed, *(cells for row in rows for cells in row.intervals())])


def _rows(name: str, runs: Sequence[Result], layout: Layout, columns: Mapping[str, str]) -> Iterator[Row]:
    """The rows of a system: one, or one for each pair and scoring if the table has a column `pair`."""
    first, seeds = runs[0], f" ({len(runs)} seeds)" if len(runs) > 1 else ""
    about = {
        # A system's name is its kind of encoder, followed by the model's own name.
        "kind": first.system.removesuffix(f" {name}"),
        "source": first.source,
        "data": first.data,
        "dim": str(first.dim),
    }
    for ending, suffix, fields in _lines(first) if "pair" in layout.fields else [("", "", {})]:
        entries = {
            column: Entry.mean_of_runs([run.measurements[figure + ending] for run in runs])
            for column, figure in columns.items()
            if figure + ending in first.measurements
        }
        if entries:
            yield Row(name, {**about, "system": first.name + suffix + seeds, **fields}, entries)


def _lines(result: Result) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The ends of the names of figures and of the system, and more cells, for each pair and scoring."""
    for pair, about in result.datasets.items():
        if "scorings" not in about:
            yield f" {pair}", "", {"pair": pair, "n": str(about["n"])}
        for scoring, chosen in about.get("scorings", {}).items():
            cells = {"pair": pair, "threshold": f"{chosen['threshold']:.4f}"}
            yield f" {pair} {scoring}", f" ({scoring})", cells


def gathered(rows: Sequence[Row], columns: Sequence[str]) -> list[Row]:
    """The row of several models, each for its own language; none if a single model would be chosen for all.

    Each figure is of the most specialised model that has it: a model of English and Arabic has figures on the
    tracks with Arabic and on the English one, but a model of English only on the English one.
    """
    chosen: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: len(row.entries)):
        chosen = {**dict.fromkeys(row.entries, row), **chosen}
    used = list({row.name: row.about for row in chosen.values()}.values())
    if len(used) < 2:
        return []
    same = dict(set.intersection(*(set(about.items()) for about in used)))
    system = f"{same['kind']}, {GATHERED}" if "kind" in same else GATHERED
    about = {"data": "sample", **same, "system": system, "source": "measured"}
    entries = {column: chosen[column].entries[column] for column in columns if column in chosen}
    return [Row("*", about, entries)]


def _published(path: Path, layout: Layout, columns: Mapping[str, str]) -> list[dict[str, str]]:
    """Published rows that have figures, those of a paper's table together."""
    rows = []
    for row in read_csv(path):
        numbers = {column: _in_percent(row.get(column, ""), figure) for column, figure in columns.items()}
        if layout.prefix:
            # A published mean over other columns is not comparable.
            numbers["avg"] = row.get("avg", "") if all(numbers.values()) else ""
        if any(numbers.values()):
            about = {"system": row["system"], "source": "published", "data": "official"}
            fields = {field: row.get(field, "") for field in layout.fields}
            rows.append({**about, **fields, **numbers, "group": f"{row['paper']}, {row['table']}"})
    groups = list(dict.fromkeys(row["group"] for row in rows))
    return sorted(rows, key=lambda row: groups.index(row["group"]))


def _in_percent(printed: str, figure: str) -> str:
    """A published figure as it is, but a correlation that is printed as 0.858 is 85.8."""
    if not (figure.startswith("pearson") and printed.startswith("0.")):
        return printed
    return f"{100 * float(printed):.{max(0, len(printed) - len('0.00'))}f}"


def sts_cells(result: Result, column: str = "sts", *, mean: str = "avg") -> dict[str, str]:
    """Cells of a system, its average on STS 2012–2016 and the 95 % interval, from a result of `evaluate_sts`.

    The average is the `mean` over the years (`avg`) or over the datasets (`datasets`).
    """
    average = result.measurements[f"pearson {mean}"]
    low, high = map(percent, average.interval)
    numbers = {column: percent(average.value), f"{column}_low": low, f"{column}_high": high}
    return {"system": result.name, "source": result.source, "data": result.data, **numbers}
