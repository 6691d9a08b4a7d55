"""The table of the filter study: what a model learns from each part of a ranked corpus."""

import csv
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from paraphrastic.base.files import atomic_output, read_json
from paraphrastic.evaluation.tables import system_name

STUDY_COLUMNS = [
    "system", "source", "data", "rank_by", "part", "min", "max", "pairs", "sampled",
    "development", "sts", "sts_low", "sts_high", "best",
]  # fmt: skip


def tabulate_filter_study(
    summaries: Sequence[Path],
    development: Sequence[Path],
    sts: Sequence[Path],
    published: Path,
    output: Path,
) -> None:
    """Write a row for each part of each ranking, as the curve behind Table 4 of ParaNMT-50M (section 6.3).

    Columns: `system`; `source` and `data`, as in the tables of STS; `rank_by`; `part`, from 1, the lowest
    values; `min` and `max` of these; `pairs` in the part and `sampled` ones, which the model is trained on;
    `development`, Pearson's r × 100 on STS 2017 en-en; `sts`, the average of STS 2012–2016, with its 95 %
    interval `sts_low` to `sts_high`; and `best`, which is `yes` for the part of each ranking with the
    highest development score (of equal ones the first). Published rows, of the best part only, come first,
    and only where all measured ones are on the official test data.

    Args:
        summaries: JSON files of `rank_pairs`, in the order of the rows.
        development: JSON files with `pearson` on STS 2017 en-en, of all parts of the first ranking, then of
            the next one.
        sts: JSON files of `evaluate_sts` in the same order.
        published: CSV file with the columns `system`, `rank_by` and `development`.
        output: the CSV file.
    """
    scores = zip(development, sts, strict=True)
    measured = []
    for path in summaries:
        summary = read_json(path)
        measured += _rows(summary, list(islice(scores, len(summary["parts"]))))
    rows: list[Mapping[str, Any]] = []
    if all(row["data"] == "official" for row in measured):
        with published.open(encoding="utf-8", newline="") as file:
            fixed = {"source": "published", "data": "official", "best": "yes"}
            rows = [{**row, **fixed} for row in csv.DictReader(file)]
    with atomic_output(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, STUDY_COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows([*rows, *measured])


def _rows(summary: Mapping[str, Any], scores: Sequence[tuple[Path, Path]]) -> list[Mapping[str, Any]]:
    """Rows of one ranking; `scores` are the files of each part, development data first."""
    development = [float(read_json(path)["pearson"]) for path, _ in scores]
    best = max(range(len(scores)), key=lambda part: development[part])
    rows: list[Mapping[str, Any]] = []
    for number, (part, (_, path)) in enumerate(zip(summary["parts"], scores, strict=True)):
        result = read_json(path)
        average = result["measurements"]["pearson avg"]
        low, high = average["interval"]
        rows.append(
            {
                "system": system_name(result),
                "source": result["source"],
                "data": result["data"],
                "rank_by": summary["measure"],
                "part": part["part"],
                "min": f"{part['min']:.4f}",
                "max": f"{part['max']:.4f}",
                "pairs": part["pairs"],
                "sampled": part["sampled"],
                "development": f"{development[number]:.1f}",
                "sts": _percent(average["value"]),
                "sts_low": _percent(low),
                "sts_high": _percent(high),
                "best": "yes" if number == best else "",
            }
        )
    return rows


def _percent(correlation: float) -> str:
    return f"{100 * correlation:.1f}"
