"""Tables of systems: published figures above measured ones, and how sure these are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_csv, read_json, write_csv
from paraphrastic.evaluation.bootstrap import interval
from paraphrastic.evaluation.layouts import LAYOUTS, Layout
from paraphrastic.evaluation.notes import number
from paraphrastic.evaluation.results import Measurement, Result, mean_of
from paraphrastic.evaluation.significance import best

# What the name of the row that gathers models says after their encoder's.
GATHERED = "one model a language"
INTERVAL_COLUMNS = [
    "name", "system", "source", "data", "row", "column", "value", "low", "high", "deviation", "n", "best",
    "test_digest", "model_digest", "group", "without",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a table: the measurement, whose model it is, and its deviation over several seeds."""

    measurement: Measurement
    model_digest: str
    deviation: float | None = None


@dataclass(frozen=True, slots=True)
class EvaluatedSystem:
    """A system of a table, by the name of its folder, with the results of each of its training runs."""

    name: str
    results: tuple[Result, ...]

    @property
    def content(self) -> Mapping[str, Any]:
        """The JSON of the first training run."""
        return self.results[0].content

    def figure(self, measurement: str) -> Figure | None:
        """The figure of this name, or None if a run lacks it.

        The figure of several runs is their mean, and its resamples are means over the runs.

        Raises:
            InputError: the runs were not evaluated on the same test data.
        """
        if not all(measurement in result for result in self.results):
            return None
        found = [result.measurement(measurement) for result in self.results]
        if len(found) == 1:
            return Figure(found[0], str(self.content["digest"]))
        if len({(each.digest, len(each.samples)) for each in found}) > 1:
            paths = ", ".join(str(result.path) for result in self.results)
            raise InputError(f"{paths}: {measurement}: not of the same test data")
        values = [each.value for each in found]
        samples = np.mean([each.samples for each in found], axis=0)
        mean = replace(found[0], value=float(np.mean(values)), samples=samples, scores=None, gold=None)
        return Figure(mean, str(self.content["digest"]), float(np.std(values, ddof=1)))


@dataclass(slots=True)
class _Row:
    """A row of a table with what stands behind its figures."""

    name: str
    cells: dict[str, str]
    figures: dict[str, Figure] = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)

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
    """Write a table of systems, and beside it every figure with its interval.

    Published rows come first, and only where all measured ones are on the official test data. A figure is
    the mean over a system's training runs. What a system does not have is left empty.

    Args:
        systems: results (JSON files of `write_result`) of each system's training runs by its name, in the
            order of the rows.
        table: its layout, one of `LAYOUTS`.
        published: CSV file with published rows in the same columns; None where there are none.
        output: the CSV file: `system`, `source`, `data`, and what the layout says.
        intervals: CSV file with a row for each figure: `name` of the system in the configuration, `system`,
            `source` and `data`; `row` and `column` of the table; `value`, in the table's unit. Of measured
            ones also the 95 % interval `low` to `high` over resamples of the test data; `deviation` over
            training runs, where there are several; `n`; `best`, yes where it is better than all others of
            its column and each difference holds (see `significance.best`); digests of the test data and of
            the model; the data sets that a mean is `without`. Of published ones, `group`: paper and table.
        gather: systems of one language pair each, which are also shown together as one row, `name` being *.
    """
    layout = LAYOUTS[table]
    read = [EvaluatedSystem(name, tuple(map(Result, paths))) for name, paths in systems.items()]
    results = [result for system in read for result in system.results]
    columns = layout.columns([result.content for result in results])
    rows = _gathered_row([system for system in read if system.name in gather], layout, columns)
    rows += [row for system in read for row in _rows(system, layout)]
    official = all(result.official for result in results)
    known = list(_published(published, layout, columns)) if published and official else []
    groups = list(dict.fromkeys(row.cells["group"] for row in known))
    known.sort(key=lambda row: groups.index(row.cells["group"]))
    marked = _marked(rows, known, columns, layout)
    header = ["system", "source", "data", *layout.fields, *columns]
    write_csv(output, header, (row.cells for row in [*known, *rows]))
    cells = [
        row.cells | {"row": row.group, "column": column, "value": row.cells[column]}
        for row in known
        for column in columns
        if row.cells[column]
    ]
    cells += [cell for row, best in zip(rows, marked, strict=True) for cell in _intervals(row, best, layout)]
    write_csv(intervals, INTERVAL_COLUMNS, cells)


def _rows(system: EvaluatedSystem, layout: Layout) -> Iterator[_Row]:
    content = system.content
    runs = f" ({len(system.results)} seeds)" if len(system.results) > 1 else ""
    for line in layout.lines(content):
        figures = {column: system.figure(measurement) for column, measurement in line.columns.items()}
        found = {column: figure for column, figure in figures.items() if figure is not None}
        if not found:
            continue
        cells = {
            "system": system_name(content) + line.suffix + runs,
            "source": content["source"],
            "data": content["data"],
            "dim": str(content["dim"]),
            **line.fields,
        }
        row = _row(system.name, cells, found, layout)
        row.without = _without(line.columns, content.get("missing", []))
        yield row


def _without(columns: Mapping[str, str], missing: Sequence[str]) -> dict[str, str]:
    """The missing data set that a mean lacks, by column."""
    found: dict[str, str] = {}
    for dataset in missing:
        affected = (f"pearson {dataset.partition('/')[0]}", "pearson avg")
        found |= {column: dataset for column, measurement in columns.items() if measurement in affected}
    return found


def _row(name: str, cells: dict[str, str], figures: dict[str, Figure], layout: Layout) -> _Row:
    """The row with its figures, and their mean where the layout has one."""
    if layout.average and len(figures) > 1:
        mean = mean_of([each.measurement for each in figures.values()])
        digests = sorted({each.model_digest for each in figures.values()})
        figures = figures | {"avg": Figure(mean, ",".join(digests))}
    numbers = {
        column: f"{100 * each.measurement.value:.{layout.digits}f}" for column, each in figures.items()
    }
    return _Row(name, cells | numbers, figures)


def _gathered_row(systems: Sequence[EvaluatedSystem], layout: Layout, columns: Sequence[str]) -> list[_Row]:
    """The row of several models, each for its own language; none in tables with several rows a result."""
    lines = [line for system in systems for line in layout.lines(system.content)]
    if not systems or any(line.fields for line in lines):
        return []
    named = {column: name for line in lines for column, name in line.columns.items()}
    names = {column: named[column] for column in columns if column in named}
    chosen = gathered(systems, list(names.values()))
    if not chosen:
        return []
    of_column = {column: chosen[name] for column, name in names.items() if name in chosen}
    contents = {each.name: each.content for each in of_column.values()}
    # The encoder's name stands before the model's own.
    kinds = {content["system"].removesuffix(f" {name}") for name, content in contents.items()}
    dims = {content["dim"] for content in contents.values()}
    cells = {
        "system": f"{kinds.pop()}, {GATHERED}" if len(kinds) == 1 else GATHERED,
        "source": "measured",
        "data": "official" if all(c["data"] == "official" for c in contents.values()) else "sample",
        "dim": str(dims.pop()) if len(dims) == 1 else "",
    }
    figures = {column: each.figure(names[column]) for column, each in of_column.items()}
    found = {column: figure for column, figure in figures.items() if figure is not None}
    return [_row("*", cells, found, layout)]


def gathered(systems: Sequence[EvaluatedSystem], measurements: Sequence[str]) -> dict[str, EvaluatedSystem]:
    """The system that is made for each measurement: among those that have it, the one with the fewest.

    A model of English and Arabic has the tracks with Arabic, and the English one; a model of English has the
    English one alone. Empty where one system has them all.
    """
    chosen = {}
    for measurement in measurements:
        having = [each for each in systems if each.figure(measurement) is not None]
        if having:
            chosen[measurement] = min(
                having, key=lambda each: sum(name in each.results[0] for name in measurements)
            )
    return chosen if len({each.name for each in chosen.values()}) > 1 else {}


def _published(path: Path, layout: Layout, columns: Sequence[str]) -> Iterator[_Row]:
    for row in read_csv(path):
        fields = {key: row.get(key, "") for key in layout.fields}
        numbers = {column: layout.published(column, row.get(column, "")) for column in columns}
        if layout.average and not all(numbers[column] for column in columns if column != "avg"):
            # A mean over other columns is another figure.
            numbers["avg"] = ""
        if any(numbers.values()):
            cells = {"system": row["system"], "source": "published", "data": "official"}
            yield _Row("", cells | fields | numbers | {"group": f"{row['paper']}, {row['table']}"})


def _marked(
    rows: Sequence[_Row], known: Sequence[_Row], columns: Sequence[str], layout: Layout
) -> list[set[str]]:
    """For each row, the columns in which it is the best among those that it is compared with."""
    found: list[set[str]] = [set() for _ in rows]
    for group in dict.fromkeys(row.group for row in rows):
        # A row that gathers others has the figures of these.
        of_group = [i for i, row in enumerate(rows) if row.group == group and row.name != "*"]
        for column in columns:
            printed = [number(row.cells[column]) for row in known if row.group == group]
            figures = [rows[i].figures.get(column) for i in of_group]
            winner = best(
                [figure.measurement if figure else None for figure in figures],
                [value / 100 for value in printed if value is not None],
            )
            if winner is not None:
                found[of_group[winner]].add(column)
    return found


def _intervals(row: _Row, best: set[str], layout: Layout) -> Iterator[dict[str, str]]:
    for column, figure in row.figures.items():
        measurement = figure.measurement
        low, high = interval(measurement.samples)
        numbers = {"value": measurement.value, "low": low, "high": high, "deviation": figure.deviation}
        yield row.cells | {
            "name": row.name,
            "row": row.group,
            "column": column,
            **{key: "" if each is None else f"{100 * each:.4f}" for key, each in numbers.items()},
            "n": str(measurement.n),
            "best": "yes" if column in best else "",
            "test_digest": measurement.digest,
            "model_digest": figure.model_digest,
            "without": row.without.get(column, ""),
        }


def system_name(result: Mapping[str, Any]) -> str:
    """Name of a measured system, which says what its average is without, from JSON of `evaluate_sts`."""
    notes = [" ({} without {})".format(*name.split("/")) for name in result.get("missing", [])]
    return f"{result['system']}{''.join(notes)}"


def below_published(
    rows: Sequence[Mapping[str, Any]], published: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Measured rows below published ones, which stand only beside official test data."""
    if not all(row["data"] == "official" for row in rows):
        return list(rows)
    return [*({**row, "source": "published", "data": "official"} for row in published), *rows]


def sts_cells(path: Path, column: str = "sts") -> dict[str, str]:
    """A system with its average on STS 2012–2016 and the 95 % interval, from JSON of `evaluate_sts`."""
    result = read_json(path)
    average = result["measurements"]["pearson avg"]
    about = {"system": system_name(result), "source": result["source"], "data": result["data"]}
    return about | percent_cells(column, average["value"], average["interval"])


def percent_cells(column: str, value: float, interval: Sequence[float], *, digits: int = 1) -> dict[str, str]:
    """A figure × 100 and the ends of its interval, in the columns `{column}`, `…_low` and `…_high`."""
    numbers = zip(("", "_low", "_high"), (value, *interval), strict=True)
    return {f"{column}{end}": f"{100 * each:.{digits}f}" for end, each in numbers}
