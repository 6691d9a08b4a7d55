"""The ledger: every published figure beside the measured one, and whether it was reproduced."""

import hashlib
import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from paraphrastic.base.files import read_csv, write_csv
from paraphrastic.evaluation.layouts import LAYOUTS
from paraphrastic.evaluation.tasks import STS_DATASETS

log = logging.getLogger(__name__)

LEDGER_COLUMNS = [
    "table", "paper", "printed_in", "system", "row", "column", "published", "name", "measured", "low", "high",
    "difference", "verdict", "why", "protocol", "test_digest", "model_digest", "config_digest",
]  # fmt: skip
# Columns of published files that hold neither figures nor keys of rows.
_ABOUT = ("system", "paper", "table", "protocol", "model", "note", "group", "dim", "training_data",
          "training_pairs", "sentences")  # fmt: skip
# Further columns without figures, in tables that have no file of intervals.
_NO_FIGURES = ("datasets", "test_digest", "model_digest")
# BUCC's published figures (Schwenk 2018) are scored by the cosine, so they are compared with that scoring.
_SCORING = " (cosine)"


# Measured figures by the system's name, the row's key, and the column.
_Figures = dict[tuple[str, str, str], Mapping[str, str]]


def write_ledger(
    published: Sequence[Path],
    intervals: Mapping[str, Path],
    tables: Mapping[str, Path],
    output: Path,
    *,
    published_as: Mapping[str, Sequence[str]],
    config_digests: Mapping[str, str],
    gathered: Sequence[str],
    off: Mapping[str, str],
) -> None:
    """Write a row for each cell of each published table.

    The columns `paper` and `printed_in` say where a figure is printed; `table`, `system`, `row` and `column`
    say which cell of the pipeline's tables it belongs to. Beside the `published` figure stand the `name` of
    our corresponding system, the `measured` figure, its 95 % interval `low` to `high`, and the `difference`,
    measured minus published. `why` explains a verdict `not run`; `protocol` is the published one. The last
    columns are digests of the test data, the model and its configuration.

    The `verdict` is `reproduced` if the published figure lies in the interval, up to the rounding in print,
    and otherwise `better` or `worse`. It is `not run` if we have no such system or table, or other data.

    Args:
        published: CSV files of published figures, each named after its table.
        intervals: intervals of `tabulate_systems`, CSV files by table, as far as they were made.
        tables: all other tables that were made, CSV files by name.
        output: the CSV file.
        published_as: names of the published systems that correspond to ours, by our name.
        config_digests: digest of each system's definition, by its name.
        gathered: models that share one row in tables; its name is `*`.
        off: why a table was not made, by table.
    """
    labels = {
        row["system"]: row["name"] for path in intervals.values() for row in read_csv(path) if row["name"]
    }
    of_all = "".join(config_digests.get(name, "") for name in gathered)
    digests = {**config_digests, "*": hashlib.sha256(of_all.encode()).hexdigest()}
    rows = []
    for path in published:
        table = path.stem
        measured = None
        if table in intervals:
            measured = _figures(intervals[table])
        elif table in tables:
            measured = _plain_figures(tables[table], table, labels, published_as)
        for row in read_csv(path):
            about = {
                "table": table,
                "paper": row["paper"],
                "printed_in": row["table"],
                "system": row.get("system", ""),
                "row": _row_key(table, row),
                "protocol": row["protocol"],
            }
            # Our systems that correspond to the row; if none does, its column `model` may name one.
            names = [name for name, systems in published_as.items() if about["system"] in systems]
            if not about["system"]:
                names = [""]
            elif not names and row["model"]:
                names = [row["model"]]
            for column in (name for name, value in row.items() if value and _is_figure(name, table)):
                # Papers may print a figure in another unit than the pipeline's table.
                figure = LAYOUTS[table].published(column, row[column]) if table in LAYOUTS else row[column]
                cell = about | {"column": column, "published": figure}
                verdict = _verdict(cell, row, names, measured, off)
                rows.append(cell | verdict | {"config_digest": digests.get(verdict.get("name", ""), "")})
    write_csv(output, LEDGER_COLUMNS, rows)
    counts = Counter(row["verdict"] for row in rows).most_common()
    log.info("%s: %s", output, ", ".join(f"{count} {verdict}" for verdict, count in counts))


# Columns that tell apart the rows of one system in a table.
_KEYS = {
    "studies": ("study", "setting"),
    "filter_study": ("rank_by",),
    "dataset_differences": ("other",),
    "caption_differences": ("data",),
    "language_choice_correlations": ("languages", "embeddings"),
    "corpus_choice": ("corpus",),
    "corpora": ("corpus", "language"),
    "speed": ("device", "cores", "batch_size", "preprocessing"),
    **{table: layout.fields for table, layout in LAYOUTS.items()},
}


def _is_figure(column: str, table: str) -> bool:
    return column not in (*_ABOUT, *_KEYS.get(table, ()))


def _row_key(table: str, row: Mapping[str, str]) -> str:
    return ", ".join(row[key] for key in _KEYS.get(table, ()) if key != "dim" and row.get(key))


def _figures(path: Path) -> _Figures:
    return {
        (row["name"], row["row"], row["column"]): row
        for row in read_csv(path)
        if row["source"] == "measured" and (not row["row"] or row["system"].endswith(_SCORING))
    }


def _plain_figures(
    path: Path, table: str, labels: Mapping[str, str], published_as: Mapping[str, Sequence[str]]
) -> _Figures:
    """Figures of a table whose intervals, if it has any, are columns of the table itself."""
    found: _Figures = {}
    for row in read_csv(path):
        if row.get("source", "measured") != "measured":
            continue
        if predictor := row.get("predictor"):
            # Such a row holds a single figure; the ledger's column is the predictor's name.
            row |= {
                predictor: row["spearman"],
                f"{predictor}_low": row["low"],
                f"{predictor}_high": row["high"],
            }
        name = labels.get(row.get("system", ""), "")
        # Differences may lack STS data sets, such as one that needs a licence.
        missing = STS_DATASETS - int(row.get("datasets") or STS_DATASETS)
        # Published rows call the other system of a difference by its published names.
        other = published_as.get(labels.get(row.get("other", ""), ""), [])
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
    names: Sequence[str],
    measured: _Figures | None,
    off: Mapping[str, str],
) -> dict[str, str]:
    """The ledger's cells about our figure for a published one, which is printed in `row`."""
    table, column, text = cell["table"], cell["column"], cell["published"]
    known = measured or {}
    name = next((name for name in names if (name, cell["row"], column) in known), "")
    figure = known.get((name, cell["row"], column), {})
    why = ""
    if not names:
        why = f"nothing in the configuration is published_as {row['system']!r}"
    elif measured is None:
        why = off.get(table, "the pipeline has no such table")
    elif not figure:
        why = f"there is no figure for {' or '.join(names) or 'this row'} in this column"
    elif figure["data"] != "official":
        why = f"the published figures come from other test data than those of {name}"
    if why:
        return {"verdict": "not run", "why": why}
    value, low, high = (float(figure[key]) for key in ("value", "low", "high"))
    printed = float(text)
    # A printed figure may have been rounded by half a unit of its last digit.
    slack = 0.5 * 10.0 ** -len(text.partition(".")[2])
    lower_is_better = table in LAYOUTS and LAYOUTS[table].lower_is_better
    why = _other_data(table, row, column, figure, {key[2] for key in known if key[0] == name})
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
    }


def _other_data(
    table: str, row: Mapping[str, str], column: str, figure: Mapping[str, str], columns: Collection[str]
) -> str:
    """Why a measured mean covers other data than the published one; empty if both cover the same."""
    if figure.get("without"):
        return f"the measured figure lacks {figure['without']}, which the published figure includes"
    if table in LAYOUTS and LAYOUTS[table].prefix and column == "avg":
        of_row = {name for name, value in row.items() if value and name not in (*_ABOUT, "avg")}
        if others := sorted(of_row ^ (set(columns) - {"avg"})):
            return f"the two means cover different columns: only one of them has {', '.join(others)}"
    return ""
