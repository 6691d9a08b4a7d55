"""The ledger: every published figure beside what was measured here, and whether it was reproduced."""

import hashlib
import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paraphrastic.base.files import read_csv, write_csv
from paraphrastic.evaluation.layouts import LAYOUTS
from paraphrastic.evaluation.tasks import STS_DATASETS

log = logging.getLogger(__name__)

LEDGER_COLUMNS = [
    "table", "paper", "printed_in", "system", "row", "column", "published", "name", "measured", "low", "high",
    "difference", "verdict", "why", "protocol", "test_digest", "model_digest", "config_digest",
]  # fmt: skip
# Columns of published files that are no figures, beside the keys of their rows.
_ABOUT = ("system", "paper", "table", "protocol", "model", "note", "group", "dim", "training_data",
          "training_pairs", "sentences")  # fmt: skip
# Columns of tables without intervals that are no figures either.
_NO_FIGURES = ("datasets", "test_digest", "model_digest")
# BUCC's figures are of cosines, as those that it is compared with (Schwenk 2018).
_SCORING = " (cosine)"


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What of the configuration stands for published systems.

    Attributes:
        published_as: names of published systems, by the name of ours.
        config_digests: digest of what defines a system, by its name.
        gathered: the models of which tables have one row together.
    """

    published_as: Mapping[str, Sequence[str]] = field(default_factory=dict)
    config_digests: Mapping[str, str] = field(default_factory=dict)
    gathered: Sequence[str] = ()

    def candidates(self, row: Mapping[str, str]) -> list[str]:
        """Our systems that stand for a published row; its column `model` names one of the papers' models."""
        named = [name for name, systems in self.published_as.items() if row["system"] in systems]
        return named or ([row["model"]] if row["model"] else [])

    def config_digest(self, name: str) -> str:
        """Digest of what defines a system; of a row of several models (`*`), of all of them."""
        if name != "*":
            return self.config_digests.get(name, "")
        digests = "".join(self.config_digests[each] for each in self.gathered)
        return hashlib.sha256(digests.encode()).hexdigest()


# A measured figure by name of the system, key of the row, and column.
_Figures = dict[tuple[str, str, str], Mapping[str, str]]


def write_ledger(
    published: Sequence[Path],
    intervals: Mapping[str, Path],
    tables: Mapping[str, Path],
    reproduction: Reproduction,
    output: Path,
    *,
    off: Mapping[str, str],
) -> None:
    """Write a row for each cell of each published table.

    Columns: the pipeline's `table`; `paper` and where in it the figure is `printed_in`; `system`, `row` and
    `column`; the figure as `published`; the `name` of our system that stands for it, and what it `measured`
    with the 95 % interval `low` to `high`; the `difference`, measured less published; the `verdict` and `why`
    it is not another; the published `protocol`; digests of the test data, the model and its configuration.

    The verdict is `reproduced` where the published figure, as far as it is printed, lies in the interval, or
    else `better` or `worse`; it is `not run` where nothing of ours stands for the system, where its table is
    not made, or where the test data are others.

    Args:
        published: CSV files of published figures, each named after its table.
        intervals: CSV files of `tabulate_systems` by table, of those that were made.
        tables: all other tables that were made, CSV files by name.
        reproduction: what stands for published systems.
        output: the CSV file.
        off: why a table was not made, by table.
    """
    labels = {
        row["system"]: row["name"] for path in intervals.values() for row in read_csv(path) if row["name"]
    }
    rows = []
    for path in published:
        table = path.stem
        measured = None
        if table in intervals:
            measured = _figures(intervals[table])
        elif table in tables:
            measured = _plain_figures(tables[table], table, labels, reproduction)
        for row in read_csv(path):
            about = {
                "table": table,
                "paper": row["paper"],
                "printed_in": row["table"],
                "system": row.get("system", ""),
                "row": _row_key(table, row),
                "protocol": row["protocol"],
            }
            for column in (name for name, value in row.items() if value and _is_figure(name, table)):
                # In the unit of the pipeline's table.
                figure = LAYOUTS[table].published(column, row[column]) if table in LAYOUTS else row[column]
                cell = about | {"column": column, "published": figure}
                rows.append(cell | _verdict(cell, row, measured, reproduction, off))
    write_csv(output, LEDGER_COLUMNS, rows)
    counts = Counter(row["verdict"] for row in rows).most_common()
    log.info("%s: %s", output, ", ".join(f"{count} {verdict}" for verdict, count in counts))


# What tells the rows of a table apart, beside the system.
_KEYS = {
    "studies": ("study", "setting"),
    "filter_study": ("rank_by",),
    "dataset_differences": ("other",),
    "caption_differences": ("data",),
    "language_choice_correlations": ("languages", "embeddings"),
    "corpus_choice": ("corpus",),
    "corpora": ("corpus", "language"),
    "speed": ("device", "cores", "batch_size", "preprocessing"),
}


def _keys(table: str) -> tuple[str, ...]:
    return LAYOUTS[table].fields if table in LAYOUTS else _KEYS.get(table, ())


def _is_figure(column: str, table: str) -> bool:
    return column not in (*_ABOUT, *_keys(table))


def _row_key(table: str, row: Mapping[str, str]) -> str:
    return ", ".join(row[key] for key in _keys(table) if key != "dim" and row.get(key))


def _figures(path: Path) -> _Figures:
    return {
        (row["name"], row["row"], row["column"]): row
        for row in read_csv(path)
        if row["source"] == "measured" and (not row["row"] or row["system"].endswith(_SCORING))
    }


def _plain_figures(path: Path, table: str, labels: Mapping[str, str], reproduction: Reproduction) -> _Figures:
    """Figures of a table that has its intervals, if any, in columns of its own."""
    found: _Figures = {}
    for row in read_csv(path):
        if row.get("source", "measured") != "measured":
            continue
        if predictor := row.get("predictor"):
            # A row a figure: its column is named in the row.
            row |= {
                predictor: row["spearman"],
                f"{predictor}_low": row["low"],
                f"{predictor}_high": row["high"],
            }
        name = labels.get(row.get("system", ""), "")
        # What a difference of two systems over so many data sets of STS is without.
        missing = STS_DATASETS - int(row.get("datasets") or STS_DATASETS)
        # A system that stands beside another one goes by the names of published ones too.
        other = reproduction.published_as.get(labels.get(row.get("other", ""), ""), [])
        for keys in [row, *({**row, "other": published} for published in other)]:
            for column, value in row.items():
                if value and _is_figure(column, table) and column not in _NO_FIGURES:
                    found[name, _row_key(table, keys), column] = {
                        "data": row.get("data", ""),
                        "without": f"{missing} of {STS_DATASETS} data sets" if missing else "",
                        "value": value,
                        "low": row.get(f"{column}_low") or value,
                        "high": row.get(f"{column}_high") or value,
                        "test_digest": row.get("test_digest", ""),
                        "model_digest": row.get("model_digest", ""),
                    }
    return found


def _verdict(
    cell: Mapping[str, str],
    row: Mapping[str, str],
    measured: _Figures | None,
    reproduction: Reproduction,
    off: Mapping[str, str],
) -> dict[str, str]:
    """What the row of a published figure says of ours; `row` is the one that it is printed in."""
    table, column, text = cell["table"], cell["column"], cell["published"]
    names = reproduction.candidates(row) if row.get("system") else [""]
    name = next((name for name in names if (name, cell["row"], column) in (measured or ())), None)
    why = ""
    if not names:
        why = f"nothing in the configuration is published_as {row['system']!r}"
    elif measured is None:
        why = off.get(table, "the pipeline has no such table")
    elif name is None:
        why = f"no figure of {' or '.join(names) or 'this row'} in this column"
    elif measured[name, cell["row"], column]["data"] != "official":
        why = f"the test data of {name} are not those of the published figures"
    if why or measured is None or name is None:
        return {"verdict": "not run", "why": why}
    figure = measured[name, cell["row"], column]
    value, low, high = (float(figure[key]) for key in ("value", "low", "high"))
    printed = float(text)
    # Half a unit of the last digit that is printed.
    slack = 0.5 * 10.0 ** -len(text.partition(".")[2])
    lower_is_better = table in LAYOUTS and LAYOUTS[table].lower_is_better
    why = _other_data(table, row, column, figure, {key[2] for key in measured if key[0] == name})
    if why:
        verdict = "not run"
    elif low - slack <= printed <= high + slack:
        verdict = "reproduced"
    else:
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
        "config_digest": reproduction.config_digest(name),
    }


def _other_data(
    table: str, row: Mapping[str, str], column: str, figure: Mapping[str, str], columns: Collection[str]
) -> str:
    """Why a measured mean is not of the same data sets as the published one; empty if it is."""
    if figure.get("without"):
        return f"what was measured is without {figure['without']}, which the published figure is with"
    if table in LAYOUTS and LAYOUTS[table].average and column == "avg":
        of_row = {name for name, value in row.items() if value and name not in (*_ABOUT, "avg")}
        if others := sorted(of_row ^ (set(columns) - {"avg"})):
            return f"the two means are not over the same columns: only one of them has {', '.join(others)}"
    return ""
