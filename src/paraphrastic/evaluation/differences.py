"""How much two systems differ from dataset to dataset, where their averages may hide it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from paraphrastic.base.files import read_csv, write_csv
from paraphrastic.evaluation.bootstrap import interval
from paraphrastic.evaluation.results import Result
from paraphrastic.evaluation.tables import below_published, percent_cells, system_name
from paraphrastic.evaluation.tasks import CAPTION_DATASETS, STS_DATASETS

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
# The columns of that table are differences from this system.
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
    read = [Result(paths[0]) for paths in systems.values()]
    rows = [_row(first, second) for first, second in combinations(read, 2)]
    known = [*read_csv(published), *_published_captions(captions)]
    complete = ({**row, "datasets": STS_DATASETS} for row in known)
    write_csv(output, DIFFERENCE_COLUMNS, below_published(rows, complete))


def _row(first: Result, second: Result) -> dict[str, str]:
    names = [name for name in first.content["datasets"] if name in second.content["datasets"]]
    of_first, of_second = (
        [result.measurement(f"pearson {name}") for name in names] for result in (first, second)
    )
    values = np.array([one.value - other.value for one, other in zip(of_first, of_second, strict=True)])
    samples = np.stack([one.samples - other.samples for one, other in zip(of_first, of_second, strict=True)])
    resampled = np.abs(samples).mean(axis=0)
    absolute = np.abs(values).mean()
    around = interval((resampled - resampled.mean() + absolute).clip(min=0))
    of_captions = {name: f"{100 * value:.2f}" for name, value in zip(names, values, strict=True)}
    digests = "".join(each.digest for each in of_first)
    return {
        "system": system_name(first.content),
        "other": system_name(second.content),
        "source": "measured",
        "data": "official" if first.official and second.official else "sample",
        "datasets": str(len(names)),
        **percent_cells("difference", absolute, around, digits=2),
        **percent_cells("mean", values.mean(), interval(samples.mean(axis=0)), digits=2),
        **of_captions,
        "test_digest": hashlib.sha256(digests.encode()).hexdigest(),
        "model_digest": ",".join(str(result.content["digest"]) for result in (first, second)),
    }


def _published_captions(path: Path) -> Iterator[dict[str, str]]:
    rows = read_csv(path)
    for other in (name for name in rows[0] if name.startswith("InferSent")):
        figures = {_CAPTIONS[row["data"]]: row[other] for row in rows}
        yield {"system": _CAPTION_SYSTEM, "other": other, **figures}
