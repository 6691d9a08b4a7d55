"""The table of studies: models with other settings, and models of parts of a corpus."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraphrastic.base.files import read_json
from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.system_tables import sts_cells
from paraphrastic_pipeline.evaluation.testset_names import STS_DATASETS

STUDIES_COLUMNS = [
    "study", "setting", "model", "system", "source", "data", "development", "sts", "sts_low", "sts_high",
    "datasets", "sts_datasets", "sts_datasets_low", "sts_datasets_high",
]  # fmt: skip


def tabulate_studies(
    sweeps: Sequence[Path],
    sts: Sequence[Path],
    published: Path,
    table: Path,
    *,
    models: Sequence[tuple[str, str, str]],
) -> None:
    """Write a row for each model of each study.

    Columns: `study`, `setting`, `model`, `system`; `source` and `data`, as in the tables of STS;
    `development`, by which the run was chosen, × 100; `sts`, the average on STS 2012–2016,
    mean over the years; the number of `datasets`; and `sts_datasets`, the mean over them. Both means have
    their 95 % interval, as in `sts_low` to `sts_high`. Published rows of a study come before its measured
    rows if all of these are on official test data. Without test sets of STS, their columns are empty.

    Args:
        sweeps: CSV files of `choose_model`, in the order of the rows.
        sts: JSON files of `evaluate_sts`, in the same order; none if STS is not evaluated.
        published: CSV file with the columns `study`, `setting`, `system`, `development`, `sts` and
            `sts_datasets`.
        table: the CSV file.
        models: study, setting and name of the model of each row.
    """
    known = read_csv(published)
    rows: list[Mapping[str, Any]] = []
    results: Sequence[Path | None] = sts or [None] * len(models)
    files = zip(models, sweeps, results, strict=True)
    measured = [_row(*model, sweep, result) for model, sweep, result in files]
    for study in dict.fromkeys(study for study, *_ in models):
        of_study = [row for row in measured if row["study"] == study]
        if all(row["data"] == "official" for row in of_study):
            rows += [_printed(row) for row in known if row["study"] == study]
        rows += of_study
    write_csv(table, STUDIES_COLUMNS, rows)


def _printed(row: Mapping[str, str]) -> Mapping[str, Any]:
    datasets = STS_DATASETS if row["sts"] or row["sts_datasets"] else ""
    return {**row, "source": "published", "data": "official", "datasets": datasets}


def _row(study: str, setting: str, model: str, sweep: Path, sts: Path | None) -> Mapping[str, Any]:
    development = next(row["development"] for row in read_csv(sweep) if row["chosen"])
    about = {
        "study": study,
        "setting": setting,
        "model": model,
        "source": "measured",
        "data": "",
        "development": f"{float(development):.1f}" if development else "",
    }
    if sts is None:
        return about
    return about | {
        **sts_cells(sts),
        "datasets": str(len(read_json(sts)["datasets"])),
        **sts_cells(sts, "sts_datasets", mean="datasets"),
    }
