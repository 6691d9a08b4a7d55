"""The tables of studies: models that differ in the varied settings alone, and models of parts of a corpus."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from paraphrastic.base.files import read_csv, read_json, write_csv
from paraphrastic.evaluation.tables import below_published, sts_cells

FILTER_STUDY_COLUMNS = [
    "system", "source", "data", "rank_by", "part", "min", "max", "pairs", "sampled",
    "development", "sts", "sts_low", "sts_high", "best",
]  # fmt: skip
STUDIES_COLUMNS = [
    "study", "setting", "system", "source", "data", "development", "sts", "sts_low", "sts_high",
]  # fmt: skip


def tabulate_studies(models: Sequence[tuple[str, str, Path, Path]], published: Path, output: Path) -> None:
    """Write a row for each model of each study.

    Columns: `study`, `setting`, `system`; `source` and `data`, as in the tables of STS; `development`,
    Pearson's r × 100 on STS 2017 en-en of the run that was chosen; and `sts`, the average of STS 2012–2016,
    with its 95 % interval `sts_low` to `sts_high`. Published rows of a study of the same name come before
    its own, where these are on the official test data.

    Args:
        models: study, setting, CSV file of `choose_model` and JSON file of `evaluate_sts`, in the order of
            the rows.
        published: CSV file with the columns `study`, `setting`, `system`, `development` and `sts`.
        output: the CSV file.
    """
    known = read_csv(published)
    rows: list[Mapping[str, Any]] = []
    for study in dict.fromkeys(study for study, *_ in models):
        measured = [_row(*model) for model in models if model[0] == study]
        rows += below_published(measured, [row for row in known if row["study"] == study])
    write_csv(output, STUDIES_COLUMNS, rows)


def _row(study: str, setting: str, sweep: Path, sts: Path) -> Mapping[str, Any]:
    development = next(row["development"] for row in read_csv(sweep) if row["chosen"])
    own = {"study": study, "setting": setting, "development": f"{float(development):.1f}"}
    return own | sts_cells(sts)


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
    rows: list[dict[str, str]] = []
    for path in summaries:
        summary = read_json(path)
        rows += _parts(summary, list(islice(scores, len(summary["parts"]))))
    best = ({**row, "best": "yes"} for row in read_csv(published))
    write_csv(output, FILTER_STUDY_COLUMNS, below_published(rows, best))


def _parts(summary: Mapping[str, Any], scores: Sequence[tuple[Path, Path]]) -> Iterator[dict[str, str]]:
    """Rows of one ranking; `scores` are the files of each part, development data first."""
    development = [float(read_json(path)["pearson"]) for path, _ in scores]
    best = development.index(max(development))
    for number, (part, (_, sts)) in enumerate(zip(summary["parts"], scores, strict=True)):
        yield sts_cells(sts) | {
            "rank_by": summary["measure"],
            **{key: str(part[key]) for key in ("part", "pairs", "sampled")},
            **{key: f"{part[key]:.4f}" for key in ("min", "max")},
            "development": f"{development[number]:.1f}",
            "best": "yes" if number == best else "",
        }
