"""How much two systems differ from dataset to dataset, where their averages may hide it."""

import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraphrastic.base.files import atomic_output
from paraphrastic.evaluation.bootstrap import interval
from paraphrastic.evaluation.results import Result
from paraphrastic.evaluation.rows import EvaluatedSystem
from paraphrastic.evaluation.tables import system_name
from paraphrastic.evaluation.tasks import CAPTION_DATASETS

Float64 = npt.NDArray[np.float64]
DIFFERENCE_COLUMNS = [
    "system", "other", "source", "data", "datasets", "difference", "difference_low", "difference_high",
    "mean", "mean_low", "mean_high", *CAPTION_DATASETS, "test_digest", "model_digest",
]  # fmt: skip


# Columns of what Table 11 of ParaNMT-50M has in rows.
_CAPTIONS = {
    "Mean diff.": "mean",
    "MSRvid (2012) diff.": "2012/MSRvid",
    "Images (2014) diff.": "2014/images",
    "Images (2015) diff.": "2015/images",
}
# Less which the columns of that table are.
_CAPTION_SYSTEM = "Trigram-Word (concatenation)"


def tabulate_differences(
    systems: Mapping[str, Sequence[Path]], published: Path, captions: Path, output: Path
) -> None:
    """Write how much each two systems differ in Pearson's r × 100 over the datasets of STS 2012–2016.

    As in Tables 10 and 11 of ParaNMT-50M. Columns: `system` and `other`; `source` and `data`, as in the
    tables of STS; the number of `datasets`; `difference`, the mean absolute one, and `mean`, that of system −
    other, with their 95 % intervals; that on the datasets of captions; digests of the test data and of both
    models. Noise makes absolute differences of equal systems more than 0, and resampling adds some more, so
    that the interval of `difference` is that of the resamples moved to have the figure as their mean.

    Args:
        systems: results of `evaluate_sts` of each system's training runs by its name; the first run counts.
        published: CSV file with `system`, `other` and `difference`.
        captions: CSV file with the differences of one system from others, by data set.
        output: the CSV file.
    """
    read = [EvaluatedSystem(name, (Result(paths[0]),)) for name, paths in systems.items()]
    rows = [_row(first, second) for first, second in combinations(read, 2)]
    with atomic_output(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, DIFFERENCE_COLUMNS, restval="", extrasaction="ignore", lineterminator="\n"
        )
        writer.writeheader()
        if all(row["data"] == "official" for row in rows):
            writer.writerows(_published(published))
            writer.writerows(_published_captions(captions))
        writer.writerows(rows)


def _row(first: EvaluatedSystem, second: EvaluatedSystem) -> dict[str, str]:
    contents = [system.results[0].content for system in (first, second)]
    names = [name for name in contents[0]["datasets"] if name in contents[1]["datasets"]]
    differences = {name: _difference(first, second, f"pearson {name}") for name in names}
    values = np.array([value for value, _ in differences.values()])
    samples = np.stack([samples for _, samples in differences.values()])
    resampled = np.abs(samples).mean(axis=0)
    absolute = interval((resampled - resampled.mean() + np.abs(values).mean()).clip(min=0))
    mean = interval(samples.mean(axis=0))
    digests = [first.results[0].measurement(f"pearson {name}").digest for name in names]
    official = all(content["data"] == "official" for content in contents)
    return {
        "system": system_name(contents[0]),
        "other": system_name(contents[1]),
        "source": "measured",
        "data": "official" if official else "sample",
        "datasets": str(len(names)),
        "difference": _percent(np.abs(values).mean()),
        "difference_low": _percent(absolute[0]),
        "difference_high": _percent(absolute[1]),
        "mean": _percent(values.mean()),
        "mean_low": _percent(mean[0]),
        "mean_high": _percent(mean[1]),
        **{name: _percent(differences[name][0]) for name in CAPTION_DATASETS if name in differences},
        "test_digest": hashlib.sha256("".join(digests).encode()).hexdigest(),
        "model_digest": ",".join(str(content["digest"]) for content in contents),
    }


def _difference(first: EvaluatedSystem, second: EvaluatedSystem, measurement: str) -> tuple[float, Float64]:
    one, other = (system.results[0].measurement(measurement) for system in (first, second))
    return one.value - other.value, one.samples - other.samples


def _percent(difference: float) -> str:
    return f"{100 * difference:.2f}"


def _published(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield {**row, "source": "published", "data": "official", "datasets": "25"}


def _published_captions(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for other in (name for name in rows[0] if name.startswith("InferSent")):
        figures = {_CAPTIONS[row["data"]]: row[other] for row in rows}
        about = {"system": _CAPTION_SYSTEM, "other": other, "source": "published", "data": "official"}
        yield {**about, "datasets": "25", **figures}
