"""Tables of systems: published figures above measured ones, and the intervals of the measured ones."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.measurement import Measurement, best, interval, mean_of
from paraphrastic_pipeline.evaluation.percentages import percent, percent_cells
from paraphrastic_pipeline.evaluation.results import Result
from paraphrastic_pipeline.evaluation.tasks import LAYOUTS, Layout

# The row that gathers models is named after their encoder, followed by this.
GATHERED = "one model per language"
INTERVAL_COLUMNS = [
    "name", "system", "source", "data", "row", "column", "value", "low", "high", "deviation", "n", "best",
    "test_digest", "model_digest", "group", "without",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class EvaluatedSystem:
    """A system of a table: its name in the configuration, and the results of its training runs."""

    name: str
    results: tuple[Result, ...]

    @property
    def content(self) -> Mapping[str, Any]:
        """The JSON of the first training run."""
        return self.results[0].content

    def figure(self, name: str) -> Measurement | None:
        """The figure of this name, or None if a run lacks it.

        The figure of several runs is their mean, and its resamples are means over the runs.

        Raises:
            InputError: the runs were not evaluated on the same test data.
        """
        if not all(name in result for result in self.results):
            return None
        measurements = [result.measurement(name) for result in self.results]
        if len(measurements) == 1:
            return measurements[0]
        if len({(measurement.digest, len(measurement.samples)) for measurement in measurements}) > 1:
            paths = ", ".join(str(result.path) for result in self.results)
            raise InputError(f"{paths}: {name}: not computed on the same test data")
        values = [measurement.value for measurement in measurements]
        return replace(
            measurements[0],
            value=float(np.mean(values)),
            samples=np.mean([measurement.samples for measurement in measurements], axis=0),
            deviation=float(np.std(values, ddof=1)),
            scores=None,
            gold=None,
        )


@dataclass(slots=True)
class _Row:
    """A row: cells, measurements by column, the data sets that means are `without`, and columns it leads."""

    name: str
    cells: dict[str, str]
    figures: dict[str, Measurement] = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)
    best: set[str] = field(default_factory=set)

    @property
    def group(self) -> str:
        """The pair of languages, in tables that compare systems pair by pair."""
        return self.cells.get("pair", "")


def tabulate_systems(
    systems: Mapping[str, Sequence[Path]],
    table: str,
    published: Path | None,
    output: Path,
    intervals: Path,
    *,
    gather: Sequence[str] = (),
) -> None:
    """Write a table of systems, and a file of every figure with its interval.

    Published rows come first, and are left out unless all measured rows are on official test data. A figure
    is the mean over a system's training runs. If a system has no figure for a column, the cell is empty.

    Args:
        systems: JSON files of `write_result`, one per training run, by the system's name, in the order of
            the rows.
        table: name of the table in `LAYOUTS`.
        published: CSV file with published rows in the same columns; None if there are none.
        output: the table, a CSV file with `system`, `source`, `data`, and the columns of the layout.
        intervals: CSV file with a row for each figure: `name` of the system in the configuration, `system`,
            `source` and `data`; `row` and `column` of the table; `value`, in the table's unit. A published
            figure has its paper and table as `group`. A measured one has the 95 % interval `low` to `high`
            over resamples of the test data; `deviation`, over training runs if there are several; `n`;
            `best`, which is `yes` if `measurement.best` chooses it; digests of the test data and of the
            model; and the data set that a mean is `without`.
        gather: systems of one language pair each. They also share a row, whose `name` is *.
    """
    layout = LAYOUTS[table]
    read = [EvaluatedSystem(name, tuple(map(Result, paths))) for name, paths in systems.items()]
    results = [result for system in read for result in system.results]
    columns = layout.header([result.content for result in results])
    rows = _gathered_row([system for system in read if system.name in gather], layout, columns)
    rows += [row for system in read for row in _rows(system, layout)]
    official = all(result.official for result in results)
    known = list(_published(published, layout, columns)) if published and official else []
    groups = list(dict.fromkeys(row.cells["group"] for row in known))
    known.sort(key=lambda row: groups.index(row.cells["group"]))
    _mark_best(rows, known, columns)
    header = ["system", "source", "data", *layout.fields, *columns]
    write_csv(output, header, (row.cells for row in [*known, *rows]))
    cells = [
        row.cells | {"row": row.group, "column": column, "value": row.cells[column]}
        for row in known
        for column in columns
        if row.cells[column]
    ]
    write_csv(intervals, INTERVAL_COLUMNS, [*cells, *(cell for row in rows for cell in _intervals(row))])


def _rows(system: EvaluatedSystem, layout: Layout) -> Iterator[_Row]:
    content = system.content
    runs = f" ({len(system.results)} seeds)" if len(system.results) > 1 else ""
    for line in layout.lines(content):
        cells = {
            "system": system_name(content) + line.suffix + runs,
            "source": content["source"],
            "data": content["data"],
            "dim": str(content["dim"]),
            **line.fields,
        }
        figures = {column: system.figure(measurement) for column, measurement in line.columns.items()}
        row = _row(system.name, cells, figures, layout)
        for dataset in content.get("missing", []):
            means = (f"pearson {dataset.partition('/')[0]}", "pearson avg")
            row.without |= {column: dataset for column, name in line.columns.items() if name in means}
        if row.figures:
            yield row


def _row(name: str, cells: dict[str, str], figures: Mapping[str, Measurement | None], layout: Layout) -> _Row:
    """The row with the figures that exist, and their mean if the layout has a column for it."""
    existing = {column: measurement for column, measurement in figures.items() if measurement is not None}
    if layout.prefix and len(existing) > 1:
        existing["avg"] = mean_of(list(existing.values()))
    numbers = {column: percent(measurement.value, layout.digits) for column, measurement in existing.items()}
    return _Row(name, cells | numbers, existing)


def _gathered_row(systems: Sequence[EvaluatedSystem], layout: Layout, columns: Sequence[str]) -> list[_Row]:
    """The row of several models, each for its own language; none if a result fills several rows."""
    lines = [line for system in systems for line in layout.lines(system.content)]
    if not systems or any(line.fields for line in lines):
        return []
    named = {column: name for line in lines for column, name in line.columns.items()}
    names = {column: named[column] for column in columns if column in named}
    chosen = gathered(systems, list(names.values()))
    if not chosen:
        return []
    contents = {system.name: system.content for system in chosen.values()}
    # A system's name is its kind of encoder, followed by the model's own name.
    kinds = {content["system"].removesuffix(f" {name}") for name, content in contents.items()}
    dims = {content["dim"] for content in contents.values()}
    cells = {
        "system": f"{kinds.pop()}, {GATHERED}" if len(kinds) == 1 else GATHERED,
        "source": "measured",
        "data": "official" if all(c["data"] == "official" for c in contents.values()) else "sample",
        "dim": str(dims.pop()) if len(dims) == 1 else "",
    }
    figures = {column: chosen[name].figure(name) for column, name in names.items() if name in chosen}
    return [_row("*", cells, figures, layout)]


def gathered(systems: Sequence[EvaluatedSystem], measurements: Sequence[str]) -> dict[str, EvaluatedSystem]:
    """The most specialised system for each measurement: the one with the fewest measurements that has it.

    A model of English and Arabic has measurements on the tracks with Arabic and on the English one, but a
    model of English only on the English one. The result is empty if a single system would be chosen for all.
    """
    chosen = {}
    for measurement in measurements:
        having = [system for system in systems if system.figure(measurement) is not None]
        if having:
            chosen[measurement] = min(
                having, key=lambda system: sum(name in system.results[0] for name in measurements)
            )
    return chosen if len({system.name for system in chosen.values()}) > 1 else {}


def _published(path: Path, layout: Layout, columns: Sequence[str]) -> Iterator[_Row]:
    for row in read_csv(path):
        fields = {key: row.get(key, "") for key in layout.fields}
        numbers = {column: layout.published(column, row.get(column, "")) for column in columns}
        if layout.prefix and not all(numbers[column] for column in columns if column != "avg"):
            # The published mean is over other columns, so it is not comparable.
            numbers["avg"] = ""
        if any(numbers.values()):
            cells = {"system": row["system"], "source": "published", "data": "official"}
            yield _Row("", cells | fields | numbers | {"group": f"{row['paper']}, {row['table']}"})


def _mark_best(rows: Sequence[_Row], known: Sequence[_Row], columns: Sequence[str]) -> None:
    """Mark the best row of each column, separately for each pair of languages."""
    for group in dict.fromkeys(row.group for row in rows):
        # A row that gathers systems only repeats their figures.
        of_group = [row for row in rows if row.group == group and row.name != "*"]
        for column in columns:
            printed = [row.cells[column] for row in known if row.group == group]
            winner = best(
                [row.figures.get(column) for row in of_group],
                [float(value) / 100 for value in printed if value],
            )
            if winner is not None:
                of_group[winner].best.add(column)


def _intervals(row: _Row) -> Iterator[dict[str, str]]:
    for column, figure in row.figures.items():
        low, high = interval(figure.samples)
        numbers = {"value": figure.value, "low": low, "high": high, "deviation": figure.deviation}
        yield row.cells | {
            "name": row.name,
            "row": row.group,
            "column": column,
            **{key: "" if number is None else percent(number, 4) for key, number in numbers.items()},
            "n": str(figure.n),
            "best": "yes" if column in row.best else "",
            "test_digest": figure.digest,
            "model_digest": figure.model_digest,
            "without": row.without.get(column, ""),
        }


def system_name(result: Mapping[str, Any]) -> str:
    """Name of a measured system, with a note on data sets that its result is without."""
    notes = [" ({} without {})".format(*name.split("/")) for name in result.get("missing", [])]
    return f"{result['system']}{''.join(notes)}"


def below_published(
    rows: Sequence[Mapping[str, Any]], published: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Measured rows below published ones; published rows are left out unless all data are official."""
    if not all(row["data"] == "official" for row in rows):
        return list(rows)
    return [*({**row, "source": "published", "data": "official"} for row in published), *rows]


def sts_cells(path: Path, column: str = "sts", *, mean: str = "avg") -> dict[str, str]:
    """Cells of a system, its average on STS 2012–2016 and the 95 % interval, from JSON of `evaluate_sts`.

    The average is the `mean` over the years (`avg`) or over the datasets (`datasets`).
    """
    result = read_json(path)
    average = result["measurements"][f"pearson {mean}"]
    about = {"system": system_name(result), "source": result["source"], "data": result["data"]}
    return about | percent_cells(column, average["value"], average["interval"])
