"""Tables of studies: models with other settings, models of parts of a corpus, and differences on STS."""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from paraphrastic.base.files import read_json
from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.measurement import interval
from paraphrastic_pipeline.evaluation.percentages import percent, percent_cells
from paraphrastic_pipeline.evaluation.results import Result
from paraphrastic_pipeline.evaluation.system_tables import below_published, sts_cells, system_name
from paraphrastic_pipeline.evaluation.testset_names import CAPTION_DATASETS, STS_DATASETS

STUDIES_COLUMNS = [
    "study", "setting", "model", "system", "source", "data", "development", "sts", "sts_low", "sts_high",
    "datasets", "sts_datasets", "sts_datasets_low", "sts_datasets_high",
]  # fmt: skip
DIFFERENCE_COLUMNS = [
    "system", "other", "source", "data", "datasets", "difference", "difference_low", "difference_high",
    "mean", "mean_low", "mean_high", *CAPTION_DATASETS, "test_digest", "model_digest",
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
        of_study = [
            {**row, "datasets": STS_DATASETS if row["sts"] or row["sts_datasets"] else ""}
            for row in known
            if row["study"] == study
        ]
        rows += below_published([row for row in measured if row["study"] == study], of_study)
    write_csv(table, STUDIES_COLUMNS, rows)


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


def tabulate_differences(results: Sequence[Path], published: Path, table: Path) -> None:
    """Write how much each pair of systems differs in Pearson's r × 100 on the datasets of STS 2012–2016.

    The table follows Tables 10 and 11 of ParaNMT-50M. Columns: `system` and `other`; `source` and `data`, as
    in the tables of STS; the number of `datasets`; `difference`, the mean absolute difference, and `mean`,
    the mean of system − other, with their 95 % intervals; the difference on each dataset of captions; digests
    of the test data and of both models. Resampling adds noise, and noise makes absolute differences larger.
    For the interval of `difference`, its resamples are therefore shifted so that their mean is the figure.

    The results are JSON files of `evaluate_sts`, one per system. The published CSV file has `system`,
    `other`, and some of the figures.
    """
    rows = [_difference(first, second) for first, second in combinations(map(Result, results), 2)]
    complete = ({**row, "datasets": STS_DATASETS} for row in read_csv(published))
    write_csv(table, DIFFERENCE_COLUMNS, below_published(rows, complete))


def _difference(first: Result, second: Result) -> dict[str, str]:
    names = [name for name in first.content["datasets"] if name in second.content["datasets"]]
    pairs = [[result.measurement(f"pearson {name}") for result in (first, second)] for name in names]
    values = np.array([one.value - other.value for one, other in pairs])
    samples = np.stack([one.samples - other.samples for one, other in pairs])
    resampled = np.abs(samples).mean(axis=0)
    absolute = np.abs(values).mean()
    around = interval((resampled - resampled.mean() + absolute).clip(min=0))
    digests = "".join(one.digest for one, _ in pairs)
    return {
        "system": system_name(first.content),
        "other": system_name(second.content),
        "source": "measured",
        "data": "official" if first.official and second.official else "sample",
        "datasets": str(len(names)),
        **percent_cells("difference", absolute, around, digits=2),
        **percent_cells("mean", values.mean(), interval(samples.mean(axis=0)), digits=2),
        **{name: percent(value, 2) for name, value in zip(names, values, strict=True)},
        "test_digest": hashlib.sha256(digests.encode()).hexdigest(),
        "model_digest": ",".join(str(result.content["digest"]) for result in (first, second)),
    }
