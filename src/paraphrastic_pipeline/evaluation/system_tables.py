"""Tables of systems: published figures above measured ones, and the intervals of the measured ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from paraphrastic.base.files import read_json
from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.percentages import percent
from paraphrastic_pipeline.evaluation.results import left_out
from paraphrastic_pipeline.evaluation.tasks import LAYOUTS, Layout

# The row that gathers models is named after their encoder, followed by this.
GATHERED = "one model per language"
INTERVAL_COLUMNS = [
    "name", "system", "source", "data", "row", "column", "value", "low", "high", "deviation", "n", "group",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure of a system: its value, the ends of its interval, and its deviation over training runs."""

    value: float
    low: float
    high: float
    n: int
    deviation: float | None = None

    @classmethod
    def mean_of_runs(cls, runs: Sequence[Mapping[str, Any]]) -> "Measured":
        """The mean of the figures of training runs, which have the same test data."""
        values = [run["value"] for run in runs]
        low, high = (fmean(ends) for ends in zip(*(run["interval"] for run in runs), strict=True))
        return cls(fmean(values), low, high, runs[0]["n"], stdev(values) if len(runs) > 1 else None)

    @classmethod
    def mean_of_data(cls, figures: Sequence["Measured"]) -> "Measured":
        """The mean of figures on several test sets, whose errors are independent."""
        count, value = len(figures), fmean(figure.value for figure in figures)
        below, above = (
            hypot(*(getattr(figure, end) - figure.value for figure in figures)) / count
            for end in ("low", "high")
        )
        return cls(value, value - below, value + above, sum(figure.n for figure in figures))


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the name of a system in the configuration, cells that are no figures, and figures by column."""

    name: str
    about: Mapping[str, str]
    figures: Mapping[str, Measured]

    def with_mean(self) -> "Row":
        """The row with the mean of its figures as `avg`, if it has several."""
        if len(self.figures) < 2:
            return self
        mean = Measured.mean_of_data(list(self.figures.values()))
        return Row(self.name, self.about, {**self.figures, "avg": mean})

    def cells(self, digits: int) -> dict[str, str]:
        """The cells of the table."""
        numbers = {column: percent(figure.value, digits) for column, figure in self.figures.items()}
        return {**self.about, **numbers}

    def intervals(self) -> Iterator[dict[str, str]]:
        """The rows of the file of intervals."""
        about = {**self.about, "name": self.name, "row": self.about.get("pair", "")}
        for column, figure in self.figures.items():
            numbers = {
                key: percent(number, 4)
                for key in ("value", "low", "high", "deviation")
                if (number := getattr(figure, key)) is not None
            }
            yield {**about, "column": column, **numbers, "n": str(figure.n)}


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
    read = {system: list(map(read_json, paths)) for system, paths in systems.items()}
    results = [result for runs in read.values() for result in runs]
    columns = layout.header(results)
    rows = [row for system, runs in read.items() for row in _rows(system, runs, layout)]
    if "pair" not in layout.fields:
        rows = [*gathered([row for row in rows if row.name in gather], columns), *rows]
    if layout.prefix:
        rows = [row.with_mean() for row in rows]
    official = all(result["data"] == "official" for result in results)
    known = list(_published(published, layout, columns)) if published and official else []
    groups = list(dict.fromkeys(row["group"] for row in known))
    known.sort(key=lambda row: groups.index(row["group"]))
    header = ["system", "source", "data", *layout.fields, *columns]
    write_csv(table, header, [*known, *(row.cells(layout.digits) for row in rows)])
    cells = [
        {**row, "row": row.get("pair", ""), "column": column, "value": row[column]}
        for row in known
        for column in columns
        if row[column]
    ]
    write_csv(intervals, INTERVAL_COLUMNS, [*cells, *(cell for row in rows for cell in row.intervals())])


def _rows(name: str, runs: Sequence[Mapping[str, Any]], layout: Layout) -> Iterator[Row]:
    content = runs[0]
    seeds = f" ({len(runs)} seeds)" if len(runs) > 1 else ""
    for line in layout.lines(content):
        about = {
            "system": system_name(content) + line.suffix + seeds,
            # A system's name is its kind of encoder, followed by the model's own name.
            "kind": content["system"].removesuffix(f" {name}"),
            "source": content["source"],
            "data": content["data"],
            "dim": str(content["dim"]),
            **line.fields,
        }
        measured = {
            column: [run["measurements"].get(figure) for run in runs]
            for column, figure in line.columns.items()
        }
        figures = {
            column: Measured.mean_of_runs(of_runs) for column, of_runs in measured.items() if all(of_runs)
        }
        if figures:
            yield Row(name, about, figures)


def gathered(rows: Sequence[Row], columns: Sequence[str]) -> list[Row]:
    """The row of several models, each for its own language; none if a single model would be chosen for all.

    Each figure is of the most specialised model that has it: a model of English and Arabic has figures on the
    tracks with Arabic and on the English one, but a model of English only on the English one.
    """
    chosen: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: len(row.figures)):
        chosen = {**dict.fromkeys(row.figures, row), **chosen}
    used = list({row.name: row.about for row in chosen.values()}.values())
    if len(used) < 2:
        return []
    same = {
        key: values.pop()
        for key in ("kind", "data", "dim")
        if len(values := {about[key] for about in used}) == 1
    }
    system = f"{same['kind']}, {GATHERED}" if "kind" in same else GATHERED
    about = {"data": "sample", **same, "system": system, "source": "measured"}
    figures = {column: chosen[column].figures[column] for column in columns if column in chosen}
    return [Row("*", about, figures)]


def _published(path: Path, layout: Layout, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    for row in read_csv(path):
        fields = {key: row.get(key, "") for key in layout.fields}
        numbers = {column: layout.published(column, row.get(column, "")) for column in columns}
        if layout.prefix and not all(numbers[column] for column in columns if column != "avg"):
            # The published mean is over other columns, so it is not comparable.
            numbers["avg"] = ""
        if any(numbers.values()):
            about = {"system": row["system"], "source": "published", "data": "official"}
            yield {**about, **fields, **numbers, "group": f"{row['paper']}, {row['table']}"}


def system_name(result: Mapping[str, Any]) -> str:
    """Name of a measured system, with a note on data sets that its result is without."""
    return result["system"] + "".join(f" ({note})" for note in left_out(result))


def sts_cells(path: Path, column: str = "sts", *, mean: str = "avg") -> dict[str, str]:
    """Cells of a system, its average on STS 2012–2016 and the 95 % interval, from JSON of `evaluate_sts`.

    The average is the `mean` over the years (`avg`) or over the datasets (`datasets`).
    """
    result = read_json(path)
    average = result["measurements"][f"pearson {mean}"]
    about = {"system": system_name(result), "source": result["source"], "data": result["data"]}
    ends = {
        f"{column}_{end}": percent(value)
        for end, value in zip(("low", "high"), average["interval"], strict=True)
    }
    return {**about, column: percent(average["value"]), **ends}
