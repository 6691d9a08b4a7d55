"""Tables of systems: published figures above measured ones, and the intervals of the measured ones."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import hypot
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.results import Result, percent
from paraphrastic_pipeline.evaluation.tasks import LAYOUTS, Layout

# The row that gathers models is named after their encoder, followed by this.
GATHERED = "one model per language"
INTERVAL_COLUMNS = [
    "name", "system", "source", "data", "row", "column", "value", "low", "high", "deviation", "n", "group",
]  # fmt: skip


class Entry(NamedTuple):
    """A measured figure in a table, the mean over training runs, with its interval.

    `name` is that of the system in the configuration, `about` has the cells of its row that are no figures,
    and `deviation` is the standard deviation over training runs if there are several.
    """

    name: str
    about: Mapping[str, str]
    column: str
    value: float
    low: float
    high: float
    n: int
    deviation: float | None = None

    def cells(self) -> dict[str, str]:
        """The row of the file of intervals."""
        numbers = {"value": self.value, "low": self.low, "high": self.high, "deviation": self.deviation}
        printed = {name: percent(number, 4) for name, number in numbers.items() if number is not None}
        row = {"name": self.name, "row": self.about.get("pair", ""), "column": self.column}
        return {**self.about, **row, **printed, "n": str(self.n)}


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
    entries = [entry for system, runs in results.items() for entry in _entries(system, runs, layout, columns)]
    if "pair" not in layout.fields:
        entries = [*_gathered([entry for entry in entries if entry.name in gather], columns), *entries]
    rows = [list(row) for _, row in groupby(entries, key=lambda entry: (entry.name, entry.about))]
    names = [*columns]
    if layout.prefix:
        names.append("avg")
        rows = [[*row, _mean(row)] if len(row) > 1 else row for row in rows]
    official = all(result.data == "official" for result in every)
    known = _published(published, layout, columns) if published and official else []
    shown = [
        {**row[0].about, **{entry.column: percent(entry.value, layout.digits) for entry in row}}
        for row in rows
    ]
    write_csv(table, ["system", "source", "data", *layout.fields, *names], [*known, *shown])
    printed = [
        {**row, "row": row.get("pair", ""), "column": column, "value": row[column]}
        for row in known
        for column in names
        if row[column]
    ]
    write_csv(intervals, INTERVAL_COLUMNS, [*printed, *(entry.cells() for row in rows for entry in row)])


def _entries(
    name: str, runs: Sequence[Result], layout: Layout, columns: Mapping[str, str]
) -> Iterator[Entry]:
    """The figures of a system: of one row, or with a column `pair`, of one for each pair and scoring."""
    first, seeds = runs[0], f" ({len(runs)} seeds)" if len(runs) > 1 else ""
    for ending, suffix, cells in _lines(first) if "pair" in layout.fields else [("", "", {})]:
        about = {
            # A system's name is its kind of encoder, followed by the model's own name.
            "kind": first.system.removesuffix(f" {name}"),
            "system": first.name + suffix + seeds,
            "source": first.source,
            "data": first.data,
            "dim": str(first.dim),
            **cells,
        }
        for column, figure in columns.items():
            if figure + ending in first.measurements:
                measured = [run.measurements[figure + ending] for run in runs]
                values = [run.value for run in measured]
                low, high = (fmean(ends) for ends in zip(*(run.interval for run in measured), strict=True))
                deviation = stdev(values) if len(values) > 1 else None
                yield Entry(name, about, column, fmean(values), low, high, measured[0].n, deviation)


def _lines(result: Result) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The ends of the names of figures and of the system, and more cells, for each pair and scoring."""
    for pair, about in result.datasets.items():
        if "scorings" not in about:
            yield f" {pair}", "", {"pair": pair, "n": str(about["n"])}
        for scoring, chosen in about.get("scorings", {}).items():
            cells = {"pair": pair, "threshold": f"{chosen['threshold']:.4f}"}
            yield f" {pair} {scoring}", f" ({scoring})", cells


def _mean(row: Sequence[Entry]) -> Entry:
    """The mean of figures on several test sets, whose errors are independent."""
    value = fmean(entry.value for entry in row)
    below = hypot(*(entry.low - entry.value for entry in row)) / len(row)
    above = hypot(*(entry.high - entry.value for entry in row)) / len(row)
    n = sum(entry.n for entry in row)
    return Entry(row[0].name, row[0].about, "avg", value, value - below, value + above, n)


def _gathered(entries: Sequence[Entry], columns: Iterable[str]) -> list[Entry]:
    """The row of several models, each for its own language; none if a single model would be chosen for all.

    Each figure is of the most specialised model that has it: a model of English and Arabic has figures on the
    tracks with Arabic and on the English one, but a model of English only on the English one.
    """
    sizes = Counter(entry.name for entry in entries)
    chosen: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: sizes[entry.name]):
        chosen.setdefault(entry.column, entry)
    used = {entry.name: entry.about for entry in chosen.values()}
    if len(used) < 2:
        return []
    same = dict(set.intersection(*(set(about.items()) for about in used.values())))
    system = f"{same['kind']}, {GATHERED}" if "kind" in same else GATHERED
    about = {"data": "sample", **same, "system": system, "source": "measured"}
    return [chosen[column]._replace(name="*", about=about) for column in columns if column in chosen]


def _published(path: Path, layout: Layout, columns: Mapping[str, str]) -> list[dict[str, str]]:
    """Published rows that have figures, those of a paper's table together."""
    rows = []
    for row in read_csv(path):
        numbers = {column: row.get(column, "") for column in columns}
        if layout.prefix:
            # A published mean over other columns is not comparable.
            numbers["avg"] = row.get("avg", "") if all(numbers.values()) else ""
        if any(numbers.values()):
            about = {"system": row["system"], "source": "published", "data": "official"}
            fields = {field: row.get(field, "") for field in layout.fields}
            rows.append({**about, **fields, **numbers, "group": f"{row['paper']}, {row['table']}"})
    groups = list(dict.fromkeys(row["group"] for row in rows))
    return sorted(rows, key=lambda row: groups.index(row["group"]))


def sts_cells(result: Result, column: str = "sts", *, mean: str = "avg") -> dict[str, str]:
    """Cells of a system, its average on STS 2012–2016 and the 95 % interval, from a result of `evaluate_sts`.

    The average is the `mean` over the years (`avg`) or over the datasets (`datasets`).
    """
    average = result.measurements[f"pearson {mean}"]
    low, high = map(percent, average.interval)
    numbers = {column: percent(average.value), f"{column}_low": low, f"{column}_high": high}
    return {"system": result.name, "source": result.source, "data": result.data, **numbers}
