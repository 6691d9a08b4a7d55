"""The ledger: every published figure beside the measured one, and whether it was reproduced."""

import hashlib
import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.ledger_figures import (
    KEYS,
    Figures,
    read_figures,
    read_intervals,
    row_key,
)
from paraphrastic_pipeline.evaluation.tasks import LAYOUTS

log = logging.getLogger(__name__)

LEDGER_COLUMNS = [
    "table", "paper", "printed_in", "system", "row", "column", "published", "config", "model", "name",
    "measured", "low", "high", "difference", "verdict", "why", "protocol", "test_digest", "model_digest",
    "config_digest",
]  # fmt: skip
# Columns of published files that hold neither figures nor keys of rows.
_ABOUT = ("system", "paper", "table", "protocol", "config", "model", "needs", "note", "group", "dim",
          "training_data", "training_pairs", "sentences", "n")  # fmt: skip
# Tables whose figures describe corpora or relations between systems, so that a higher one is not better.
_NO_SCORES = ("corpora", "dataset_differences", "language_choice_correlations")
# Verdicts on figures that stand beside one of ours.
COMPARED = ("reproduced", "better", "worse", "different")
_SAMPLE = "the measured figure comes from a sample, so it says nothing about the published one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What the ledger needs to know about a configuration.

    Attributes:
        configs: its files, by their paths below `config/`, such as `paper.yaml`.
        published_as: names of the published systems that correspond to ours, by our name.
        config_digests: digest of each system's definition, by its name.
        gathered: models that share one row in tables; its name is `*`.
        off: why a table was not made, by table.
        lacking: why a model of a study was not made, by its name.
        incomparable: why the figures of a column have no verdict, by table and column.
        left_out: our systems that the configuration leaves out of a table, by table.
        gaps: why a table that was made may lack rows or columns, by table.
        sample: whether the data are a sample, so that no figure is compared.
    """

    configs: Sequence[str]
    published_as: Mapping[str, Sequence[str]]
    config_digests: Mapping[str, str]
    gathered: Sequence[str]
    off: Mapping[str, str]
    lacking: Mapping[str, str] = field(default_factory=dict)
    incomparable: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    left_out: Mapping[str, Collection[str]] = field(default_factory=dict)
    gaps: Mapping[str, str] = field(default_factory=dict)
    sample: bool = False

    def claiming(self, system: str) -> list[str]:
        """Our systems that are `published_as` a published one."""
        return [name for name, systems in self.published_as.items() if system in systems]

    def digest(self, name: str) -> str:
        """The digest of a system's definition, or of those of all `gathered` ones."""
        of_all = "".join(self.config_digests.get(name, "") for name in self.gathered)
        every = {**self.config_digests, "*": hashlib.sha256(of_all.encode()).hexdigest()}
        return every.get(name, "")


def write_ledger(
    published: Sequence[Path],
    intervals: Mapping[str, Path],
    tables: Mapping[str, Path],
    output: Path,
    *,
    run: Run,
) -> None:
    """Write a row for each cell of each published table.

    The columns `paper` and `printed_in` say where a figure is printed; `table`, `system`, `row` and `column`
    say which cell of the pipeline's tables it belongs to; `config` and `model` say which file below `config/`
    makes it, and with which of its definitions. Beside the `published` figure stand the `name` of our
    corresponding system, the `measured` figure, its 95 % interval `low` to `high`, and the `difference`,
    measured minus published. `why` explains the verdicts `not run` and `baseline`; `protocol` is the
    published one. The last columns are digests of the test data, the model and its configuration.

    The `verdict` is `reproduced` if the published figure lies in the interval, up to the rounding in print,
    and otherwise `better` or `worse`, or `different` if the figure is no score. It is `not run` if we have no
    such system or table, or other data, and `baseline` if others trained the system and nothing of ours
    stands for it.

    Args:
        published: CSV files of published figures, each named after its table.
        intervals: intervals of `tabulate_systems`, CSV files by table, as far as they were made.
        tables: all other tables that were made, CSV files by name.
        output: the CSV file.
        run: the configuration.
    """
    labels = {
        row["system"]: row["name"] for path in intervals.values() for row in read_csv(path) if row["name"]
    }
    rows, kinds = [], Counter[str]()
    for path in published:
        table = path.stem
        measured = None
        if table in intervals:
            measured = read_intervals(intervals[table])
        elif table in tables:
            measured = read_figures(tables[table], table, labels)
        for row in read_csv(path):
            about = {
                "table": table,
                "paper": row["paper"],
                "printed_in": row["table"],
                "system": row.get("system", ""),
                "row": row_key(table, row),
                "config": row["config"],
                "model": row["model"],
                "protocol": row["protocol"],
            }
            for column in (name for name, value in row.items() if value and _is_figure(name, table)):
                # Papers may print a figure in another unit than the pipeline's table.
                figure = LAYOUTS[table].published(column, row[column]) if table in LAYOUTS else row[column]
                cell = about | {"column": column, "published": figure}
                verdict = _verdict(cell, row, measured, run)
                rows.append(cell | verdict | {"config_digest": run.digest(verdict.get("name", ""))})
                kinds.update(_kinds(row, verdict["verdict"], run))
    write_csv(output, LEDGER_COLUMNS, rows)
    log.info("%s: %s", output, _share(kinds))


def _kinds(row: Mapping[str, str], verdict: str, run: Run) -> list[str]:
    """What a figure counts as: whose model it is of, and what became of it."""
    kind = "lacking" if row.get("needs") else "ours" if row["config"] else "baseline"
    here = row["config"] in run.configs or run.claiming(row.get("system", ""))
    done = [verdict, f"{kind} run"] if verdict in COMPARED else []
    return ["all", kind, *([f"{kind} here"] if here or done else []), *done]


def _share(kinds: Mapping[str, int]) -> str:
    verdicts = ", ".join(f"{kinds[verdict]} {verdict}" for verdict in COMPARED)
    return (
        f"{kinds['all']} published figures; {kinds['ours']} are of models that this project can make, "
        f"of which this configuration makes {kinds['ours here']} and has run {kinds['ours run']}; "
        f"{kinds['lacking']} need what the project lacks; {kinds['baseline']} are of baselines that others "
        f"trained, of which {kinds['baseline run']} were run; {verdicts}"
    )


def _is_figure(column: str, table: str) -> bool:
    return column not in (*_ABOUT, *KEYS.get(table, ()))


def _candidates(table: str, row: Mapping[str, str], run: Run) -> list[tuple[str, str]]:
    """The names of our systems that may have a published row's figures, the likeliest first, and its keys."""
    models = row["model"].split() if row["config"] in run.configs else []
    claiming = run.claiming(row.get("system", ""))
    key = row_key(table, row)
    if table == "language_choice_correlations":
        return [("", key)]
    if table == "dataset_differences":
        others = [*run.claiming(row["other"]), *models[1:]]
        return [(name, other) for name in [*claiming, *models[:1]] for other in others]
    keys = [key, row["language"]] if table == "corpora" else [key]
    return [(name, key) for name in [*claiming, *models] for key in keys]


def _verdict(
    cell: Mapping[str, str], row: Mapping[str, str], measured: Figures | None, run: Run
) -> dict[str, str]:
    """The ledger's cells about our figure for a published one, which is printed in `row`."""
    table, column = cell["table"], cell["column"]
    known, candidates = measured or {}, _candidates(table, row, run)
    name, key = next(((*candidate,) for candidate in candidates if (*candidate, column) in known), ("", ""))
    figure = known.get((name, key, column))
    if figure is None:
        return _not_run(cell, row, measured, candidates, run)
    value, low, high = (float(figure[key]) for key in ("value", "low", "high"))
    printed = float(cell["published"])
    # A printed figure may have been rounded by half a unit of its last digit.
    slack = 0.5 * 10.0 ** -len(cell["published"].partition(".")[2])
    columns = {key[2] for key in known if key[0] == name}
    why = _SAMPLE if run.sample else run.incomparable.get(table, {}).get(column, "")
    why = why or _other_data(table, row, name, column, figure, columns)
    if why:
        verdict = "not run"
    elif low - slack <= printed <= high + slack:
        verdict = "reproduced"
    elif table in _NO_SCORES:
        verdict = "different"
    else:
        lower_is_better = table in LAYOUTS and LAYOUTS[table].lower_is_better
        verdict = "better" if (value > printed) != lower_is_better else "worse"
    return {
        "why": why,
        "name": name,
        "measured": f"{value:.2f}",
        "low": f"{low:.2f}",
        "high": f"{high:.2f}",
        "difference": f"{value - printed:+.2f}",
        "verdict": verdict,
        "test_digest": figure["test_digest"],
        "model_digest": figure["model_digest"],
    }


def _not_run(
    cell: Mapping[str, str],
    row: Mapping[str, str],
    measured: Figures | None,
    candidates: Collection[tuple[str, str]],
    run: Run,
) -> dict[str, str]:
    """The verdict on a figure that nothing of ours stands beside, and why."""
    system, config, names = cell["system"], row["config"], dict.fromkeys(name for name, _ in candidates)
    here = config in run.configs or run.claiming(system)
    if not config and not here:
        why = f"others trained {system!r}, and nothing in the configuration is published_as it"
        return {"verdict": "baseline", "why": why}
    if row.get("needs"):
        why = f"it needs {row['needs']}"
    elif not here:
        models = "its models of all languages" if row["model"] == "*" else " and ".join(row["model"].split())
        why = f"config/{config} makes this figure, from {models}"
    elif lacking := [run.lacking[name] for name in names if name in run.lacking]:
        why = lacking[0]
    elif left_out := [name for name in names if name in run.left_out.get(cell["table"], ())]:
        why = f"evaluation.only leaves {left_out[0]} out of this table"
    elif measured is None:
        why = run.off.get(cell["table"], "the pipeline has no such table")
    elif not candidates:
        why = f"nothing in the configuration is published_as {row['other']!r}"
    elif why := run.incomparable.get(cell["table"], {}).get(cell["column"], ""):
        pass
    else:
        why = f"there is no figure for {' or '.join(names) or 'this row'} in this column"
        why += f": {gap}" if (gap := run.gaps.get(cell["table"])) else ""
    return {"verdict": "not run", "why": why}


def _other_data(
    table: str,
    row: Mapping[str, str],
    name: str,
    column: str,
    figure: Mapping[str, str],
    columns: Collection[str],
) -> str:
    """Why a measured figure cannot be compared with the published one; empty if it can."""
    if figure["data"] != "official":
        return f"the published figures come from other test data than those of {name}"
    if table == "speed":
        return "the published speed was measured on another machine"
    if figure.get("without"):
        return f"the measured figure lacks {figure['without']}, which the published figure includes"
    if (languages := row.get("n")) and figure["languages"] != languages:
        return (
            f"the published figure is over {languages} languages, the measured one over {figure['languages']}"
        )
    if table in LAYOUTS and LAYOUTS[table].prefix and column == "avg":
        of_row = {name for name, value in row.items() if value and name not in (*_ABOUT, "avg")}
        if others := sorted(of_row ^ (set(columns) - {"avg"})):
            return f"the two means cover different columns: only one of them has {', '.join(others)}"
    return ""
