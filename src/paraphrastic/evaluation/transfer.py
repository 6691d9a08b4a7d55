"""Transfer: how well a sentence's vector tells its class, or two sentences' vectors what relates them."""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import torch

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.evaluation.bootstrap import bootstrap_sums
from paraphrastic.evaluation.cross_validation import (
    cross_validation,
    nested_cross_validation,
    network_validation,
    split_validation,
)
from paraphrastic.evaluation.networks import (
    Float32,
    Float64,
    Int64,
    pair_features,
    predict_scores,
    toolkit_order,
)
from paraphrastic.evaluation.results import Measurement, Source, correlations, mean_of, share, write_result
from paraphrastic.evaluation.testsets import read_testsets
from paraphrastic.evaluation.transfer_data import content_digest
from paraphrastic.evaluation.transfer_tasks import LANGUAGES, PARTS, TASKS, Suite, TransferTask
from paraphrastic.model.system import System

Measurements = dict[str, Measurement]
Details = dict[str, Any]

log = logging.getLogger(__name__)


def evaluate_transfer(
    encoder: System,
    testsets: Path,
    result: Path,
    *,
    suite: Suite,
    official: Path,
    source: Source,
    bootstrap_samples: int,
    threads: int = 1,
    tasks: Sequence[str] | None = None,
) -> None:
    """Evaluate on the tasks of a suite.

    Measurements of `senteval` (Conneau and Kiela 2018; Wieting and Gimpel 2018, Table 8): `accuracy` of MR,
    CR, SUBJ, MPQA, SST-2, TREC, MRPC and SICK-E, `f1 MRPC`, `pearson SICK-R` and `spearman SICK-R`; of
    `polish` (Dadas 2022, Table I): `accuracy` of PPC, CR-H, CR-M, CDSC-E, SICK-E and 8TAGS, `pearson` and
    `spearman` of CDSC-R and SICK-R, and `avg` of the accuracies and of Spearman's ρ. An accuracy of
    cross-validation is the mean over its folds.

    Args:
        encoder: the system.
        testsets: Parquet file of `prepare_transfer`.
        result: the JSON file, see `write_result`; `tasks` has sizes and choices of each task.
        suite: whose tasks.
        official: JSON file with the `content_digest` of the official data by task.
        source: whether the system was trained.
        bootstrap_samples: resamples of each task's test data, for the intervals.
        threads: of the processor.
        tasks: their names; None, all of the suite.

    Raises:
        InputError: data are missing, have too few rows for the protocol or not all classes; vectors are not
            finite, or all the same.
    """
    named = {task.name: task for task in TASKS[suite]}
    chosen = [named[name] for name in tasks or named]
    everything, digests = read_testsets(testsets), read_json(official)
    measurements: Measurements = {}
    details: dict[str, Details] = {}
    torch.set_num_threads(threads)
    for dataset in dict.fromkeys(task.dataset for task in chosen):
        at = f"{testsets}: {dataset}"
        rows = everything.filter(dataset=dataset)
        features = _features(encoder, rows, LANGUAGES[suite], at)
        for task in chosen:
            if task.dataset == dataset:
                start = time.monotonic()
                data = _Data(task, rows, features, f"{at}: {encoder.label}")
                found, details[task.name] = _evaluate(data, suite, bootstrap_samples)
                details[task.name]["official"] = digests.get(task.name) == data.digest
                measurements |= found
                figures = ", ".join(f"{name} {each.value:.4f}" for name, each in found.items())
                log.info("%s: %s, in %.0f s", encoder.label, figures, time.monotonic() - start)
    if suite == "polish" and len(chosen) == len(named):
        averaged = [f"{'accuracy' if task.classes else 'spearman'} {task.name}" for task in chosen]
        measurements["avg"] = mean_of([measurements[name] for name in averaged])
    write_result(
        result,
        encoder,
        measurements,
        task=suite,
        source=source,
        official=all(said["official"] for said in details.values()),
        details={"tasks": details},
    )


def _features(encoder: System, rows: pl.DataFrame, language: str, at: str) -> Float32:
    """Features of the rows, [n, d]: of a sentence its vector, of a pair |u − v| and u · v by element."""
    if rows.is_empty():
        raise InputError(f"{at}: there are no data of this name")
    columns = [rows[name] for name in ("sentence1", "sentence2") if rows[name].null_count() == 0]
    sentences = list(dict.fromkeys(text for column in columns for text in column))
    vectors = encoder.embed_finite(sentences, language, name=at)
    places = {text: place for place, text in enumerate(sentences)}
    first, *second = (vectors[[places[text] for text in column]] for column in columns)
    return pair_features(first, second[0]) if second else first


class _Data:
    """A task's rows in the toolkit's order."""

    def __init__(self, task: TransferTask, rows: pl.DataFrame, features: Float32, at: str) -> None:
        self.task, self.at = task, f"{at}: {task.name}"
        self.digest = content_digest(task, rows)
        self._gold = rows["label" if task.classes else "score"].to_numpy()
        self._order = toolkit_order(rows, self._gold)
        self._parts, self._features = rows["part"].to_numpy(), features

    def part(self, name: str) -> tuple[Float32, npt.NDArray[Any]]:
        """Features and classes or scores of a part, which has two rows or more; all classes, if it trains."""
        rows = self._order[self._parts[self._order] == name]
        if len(rows) < 2:
            raise InputError(f"{self.at}: part {name!r}: rows: {len(rows)}, at least 2 are needed")
        features, gold = self._features[rows], self._gold[rows]
        if not np.ptp(features, axis=0).any():
            raise InputError(f"{self.at}: part {name!r}: all vectors are the same and tell nothing")
        for label, of_class in enumerate(self.task.classes):
            if name not in ("dev", "test") and label not in gold:
                raise InputError(f"{self.at}: part {name!r}: no row is of class {of_class!r}")
        return features, gold


def _evaluate(data: _Data, suite: Suite, samples: int) -> tuple[Measurements, Details]:
    """Measurements of a task, and what is said of it."""
    task, at = data.task, data.at
    parts = {name: data.part(name) for name in PARTS[task.protocol]}
    said: Details = {"n": {name: len(gold) for name, (_, gold) in parts.items()}}
    _, gold = parts["all" if task.protocol == "nested" else "test"]
    about: Details = {"name": task.name, "digest": data.digest, "samples": samples}
    if task.protocol == "relatedness":
        scores, said["development"] = predict_scores(parts["train"], parts["dev"], parts["test"][0], at=at)
        return dict(correlations(scores, gold, at=at, **about)), said
    if task.protocol == "nested":
        found = nested_cross_validation(parts["all"], names=task.classes, at=at)
    elif task.protocol == "folds":
        found = cross_validation(parts["train"], parts["test"], names=task.classes, at=at)
    else:
        validation = split_validation if suite == "senteval" else network_validation
        found = validation(parts["train"], parts["dev"], parts["test"])
    said |= {"development": found.development, "chosen": list(found.chosen)}
    # The mean over the folds, as SentEval has it; resamples are of all rows, whatever their folds.
    hits = found.predicted == gold
    of_folds = np.bincount(found.folds, hits) / np.bincount(found.folds)
    measurements = {f"accuracy {task.name}": replace(share(hits, **about), value=float(of_folds.mean()))}
    if task.name == "MRPC":
        measurements["f1 MRPC"] = _f1(found.predicted, gold, **about)
    return measurements, said


def _f1(predicted: Int64, gold: Int64, *, name: str, digest: str, samples: int) -> Measurement:
    """F1 of the class 1: twice the hits over the rows of the class and the rows predicted as such."""
    counts = np.stack([2 * (predicted & gold), predicted + gold], axis=1).astype(np.float64)

    def ratio(sums: Float64) -> Float64:
        return sums[..., 0] / np.maximum(sums[..., 1], 1)

    resampled = ratio(bootstrap_sums(counts, name=name, samples=samples))
    return Measurement(value=float(ratio(counts.sum(axis=0))), samples=resampled, n=len(gold), digest=digest)
