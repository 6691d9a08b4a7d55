"""The table of the studies: models that differ in the varied settings alone, side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraphrastic.base.files import read_csv, write_csv
from paraphrastic.evaluation.tables import sts_cells

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
    known = [{**row, "source": "published", "data": "official"} for row in read_csv(published)]
    rows: list[Mapping[str, Any]] = []
    for study in dict.fromkeys(study for study, *_ in models):
        measured = [_row(*model) for model in models if model[0] == study]
        if all(row["data"] == "official" for row in measured):
            rows += [row for row in known if row["study"] == study]
        rows += measured
    write_csv(output, STUDIES_COLUMNS, rows)


def _row(study: str, setting: str, sweep: Path, sts: Path) -> Mapping[str, Any]:
    development = next(row["development"] for row in read_csv(sweep) if row["chosen"])
    own = {"study": study, "setting": setting, "development": f"{float(development):.1f}"}
    return own | sts_cells(sts)
