"""The table of studies: models with other settings, and models of parts of a corpus."""

from collections.abc import Sequence
from itertools import chain, zip_longest
from pathlib import Path

from paraphrastic.base.files import Json
from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.results import Result
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

    `sweeps` are files of `choose_model`, and `sts` of `evaluate_sts`, if it was evaluated, both in the order
    of the rows; `models` has the study, the setting and the name of the model of each row. `published` has
    the columns `study`, `setting`, `system`, `development`, `sts` and `sts_datasets`.
    """
    rows: dict[str, list[Json]] = {}
    for (study, setting, model), sweep, path in zip_longest(models, sweeps, sts):
        about = {"study": study, "setting": setting, "model": model}
        rows.setdefault(study, []).append(about | _measured(sweep, path))
    for row in reversed(read_csv(published)):
        of_study = rows.get(row["study"], [])
        if of_study and all(other["data"] == "official" for other in of_study):
            datasets = STS_DATASETS if row["sts"] or row["sts_datasets"] else ""
            of_study.insert(0, {**row, "source": "published", "data": "official", "datasets": datasets})
    write_csv(table, STUDIES_COLUMNS, chain.from_iterable(rows.values()))


def _measured(sweep: Path, sts: Path | None) -> Json:
    development = next(row["development"] for row in read_csv(sweep) if row["chosen"])
    printed = f"{float(development):.1f}" if development else ""
    cells = {"development": printed, "source": "measured", "data": ""}
    if sts is None:
        return cells
    result = Result.read(sts)
    both = sts_cells(result) | sts_cells(result, "sts_datasets", mean="datasets")
    return {**cells, **both, "datasets": len(result.datasets)}
