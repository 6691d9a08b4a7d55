"""Tables of systems: published figures above measured ones, and how sure these are."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paraphrastic.base.files import atomic_output
from paraphrastic.evaluation.bootstrap import interval
from paraphrastic.evaluation.layouts import LAYOUTS, Layout
from paraphrastic.evaluation.results import Result, mean_of
from paraphrastic.evaluation.rows import EvaluatedSystem, Figure, best, gathered

# What the name of the row that gathers models says after their encoder's.
GATHERED = "one model a language"
INTERVAL_COLUMNS = [
    "name", "system", "source", "data", "row", "column", "value", "low", "high", "deviation", "n", "best",
    "test_digest", "model_digest", "group", "without",
]  # fmt: skip


@dataclass(slots=True)
class _Row:
    """A row of a table with what stands behind its figures."""

    name: str
    cells: dict[str, str]
    fields: Mapping[str, str] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)


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
            its column and each difference holds (see `rows.best`); digests of the test data and of the
            model; the data sets that a mean is `without`. Of published ones, `group`: paper and table.
        gather: systems of one language pair each, which are also shown together as one row, `name` being *.
    """
    layout = LAYOUTS[table]
    read = [EvaluatedSystem(name, tuple(map(Result, paths))) for name, paths in systems.items()]
    contents = [result.content for system in read for result in system.results]
    columns = layout.columns(contents)
    rows = [row for system in read for row in _rows(system, layout)]
    together = _together([system for system in read if system.name in gather], layout, columns)
    rows = [*together, *rows]
    official = all(content["data"] == "official" for content in contents)
    known = list(_published(published, layout, columns)) if published and official else []
    groups = list(dict.fromkeys(row.cells["group"] for row in known))
    known.sort(key=lambda row: groups.index(row.cells["group"]))
    marked = _marked(rows, known, columns, layout)
    header = ["system", "source", "data", *layout.fields, *columns]
    with atomic_output(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, header, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(row.cells for row in [*known, *rows])
    with atomic_output(intervals) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, INTERVAL_COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for row in known:
            writer.writerows(_printed(row, columns))
        for index, row in enumerate(rows):
            writer.writerows(_intervals(row, marked.get(index, set()), layout))


def _rows(system: EvaluatedSystem, layout: Layout) -> Iterator[_Row]:
    first = system.results[0]
    runs = f" ({len(system.results)} seeds)" if len(system.results) > 1 else ""
    for line in layout.lines(first.content):
        figures = {
            column: figure
            for column, measurement in line.columns.items()
            if (figure := system.figure(measurement)) is not None
        }
        if not figures:
            continue
        cells = {
            "system": system_name(first.content) + line.suffix + runs,
            "source": first.content["source"],
            "data": first.content["data"],
            "dim": str(first.content["dim"]),
            **line.fields,
        }
        digests = dict.fromkeys(figures, str(first.content["digest"]))
        row = _row(system.name, cells, line.fields, figures, digests, layout)
        row.without = _without(line.columns, first.content.get("missing", []))
        yield row


def _without(columns: Mapping[str, str], missing: Sequence[str]) -> dict[str, str]:
    """What means lack of the data sets that are missing, by column."""
    found: dict[str, str] = {}
    for dataset in missing:
        affected = (f"pearson {dataset.partition('/')[0]}", "pearson avg")
        found |= {column: dataset for column, measurement in columns.items() if measurement in affected}
    return found


def _row(
    name: str,
    cells: Mapping[str, str],
    fields: Mapping[str, str],
    figures: dict[str, Figure],
    digests: dict[str, str],
    layout: Layout,
) -> _Row:
    if layout.average and len(figures) > 1:
        figures = figures | {"avg": Figure(mean_of([each.measurement for each in figures.values()]))}
        digests = digests | {"avg": ",".join(sorted(set(digests.values())))}
    numbers = {column: _number(each.measurement.value, layout) for column, each in figures.items()}
    return _Row(name, {**cells, **numbers}, fields, figures, digests)


def _number(value: float, layout: Layout) -> str:
    return f"{layout.scale * value:.{layout.digits}f}"


def _together(systems: Sequence[EvaluatedSystem], layout: Layout, columns: Sequence[str]) -> list[_Row]:
    """The row of several models, each for its own language; none in tables with several rows a result."""
    lines = [line for system in systems for line in layout.lines(system.results[0].content)]
    if not systems or any(line.fields for line in lines):
        return []
    names: dict[str, str] = {}
    for line in lines:
        names |= line.columns
    names = {column: names[column] for column in columns if column in names}
    chosen = gathered(systems, list(names.values()))
    if not chosen:
        return []
    of_column = {column: chosen[name] for column, name in names.items() if name in chosen}
    contents = {each.name: each.results[0].content for each in of_column.values()}
    kinds = {_kind(content["system"], name) for name, content in contents.items()}
    dims = {content["dim"] for content in contents.values()}
    cells = {
        "system": f"{kinds.pop()}, {GATHERED}" if len(kinds) == 1 else GATHERED,
        "source": "measured",
        "data": "official" if all(c["data"] == "official" for c in contents.values()) else "sample",
        "dim": str(dims.pop()) if len(dims) == 1 else "",
    }
    figures = {column: each.figure(names[column]) for column, each in of_column.items()}
    found = {column: figure for column, figure in figures.items() if figure is not None}
    digests = {column: str(contents[each.name]["digest"]) for column, each in of_column.items()}
    return [_row("*", cells, {}, found, digests, layout)]


def _kind(system: str, name: str) -> str:
    """The encoder's name, which stands before the model's own."""
    return system.removesuffix(f" {name}")


def _published(path: Path, layout: Layout, columns: Sequence[str]) -> Iterator[_Row]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            fields = {key: row.get(key) or "" for key in layout.fields}
            numbers = {column: layout.published(column, row.get(column) or "") for column in columns}
            if layout.average and {*numbers} - {name for name, value in numbers.items() if value}:
                # A mean over other columns is another figure.
                numbers["avg"] = ""
            if any(numbers.values()):
                cells = {"system": row["system"], "source": "published", "data": "official"}
                group = f"{row['paper']}, {row['table']}"
                yield _Row("", cells | fields | numbers | {"group": group}, fields)


def _marked(
    rows: Sequence[_Row], known: Sequence[_Row], columns: Sequence[str], layout: Layout
) -> dict[int, set[str]]:
    """The columns in which a row is the best of those it is compared with, by the row's index."""
    found: dict[int, set[str]] = {}
    for group in dict.fromkeys(_group(row) for row in rows):
        # A row that gathers others has the figures of these.
        of_group = [i for i, row in enumerate(rows) if _group(row) == group and row.name != "*"]
        for column in columns:
            others = [
                float(row.cells[column]) / layout.scale
                for row in known
                if _group(row) == group and _is_number(row.cells[column])
            ]
            winner = best([rows[i].figures.get(column) for i in of_group], others)
            if winner is not None:
                found.setdefault(of_group[winner], set()).add(column)
    return found


def _group(row: _Row) -> str:
    return row.fields.get("pair", "")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _printed(row: _Row, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for column in columns:
        if row.cells[column]:
            names = {key: row.cells[key] for key in ("system", "source", "data", "group")}
            yield names | {"row": _group(row), "column": column, "value": row.cells[column]}


def _intervals(row: _Row, marked: set[str], layout: Layout) -> Iterator[dict[str, Any]]:
    for column, figure in row.figures.items():
        low, high = interval(figure.measurement.samples)
        deviation = figure.deviation
        yield {
            "name": row.name,
            "system": row.cells["system"],
            "source": row.cells["source"],
            "data": row.cells["data"],
            "row": _group(row),
            "column": column,
            "value": f"{layout.scale * figure.measurement.value:.4f}",
            "low": f"{layout.scale * low:.4f}",
            "high": f"{layout.scale * high:.4f}",
            "deviation": "" if deviation is None else f"{layout.scale * deviation:.4f}",
            "n": figure.measurement.n,
            "best": "yes" if column in marked else "",
            "test_digest": figure.measurement.digest,
            "model_digest": row.digests[column],
            "without": row.without.get(column, ""),
        }


def system_name(result: Mapping[str, Any]) -> str:
    """Name of a measured system, which says what its average is without, from JSON of `evaluate_sts`."""
    notes = [" ({} without {})".format(*name.split("/")) for name in result.get("missing", [])]
    return f"{result['system']}{''.join(notes)}"
