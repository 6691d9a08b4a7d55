"""Transfer tasks: how well sentence vectors predict classes of sentences or relations of pairs."""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.model.encoder import Encoder, finite_vectors
from paraphrastic_pipeline.evaluation.cross_validation import (
    cross_validation,
    nested_cross_validation,
    network_validation,
    split_validation,
)
from paraphrastic_pipeline.evaluation.measurement import (
    Measurement,
    correlations,
    mean_of,
    precision_recall_f1,
    share,
)
from paraphrastic_pipeline.evaluation.networks import pair_features, predict_scores, toolkit_order
from paraphrastic_pipeline.evaluation.results import Evaluation
from paraphrastic_pipeline.evaluation.testsets import read_testsets
from paraphrastic_pipeline.evaluation.transfer_data import (
    LANGUAGES,
    SPLITS,
    TRANSFER_TASKS,
    Suite,
    TransferTask,
    transfer_digest,
)

Measurements = dict[str, Measurement]
Details = dict[str, Any]

log = logging.getLogger(__name__)


def evaluate_transfer(
    evaluation: Evaluation, testsets: Path, *, suite: Suite, tasks: Sequence[str] | None = None
) -> None:
    """Evaluate on the tasks of a suite.

    `senteval` (Conneau and Kiela 2018; Wieting and Gimpel 2018, Table 8) measures the `accuracy` on MR, CR,
    SUBJ, MPQA, SST-2, TREC, MRPC and SICK-E, `f1 MRPC`, `pearson SICK-R` and `spearman SICK-R`. `polish`
    (Dadas 2022, Table I) measures the `accuracy` on PPC, CR-H, CR-M, CDSC-E, SICK-E and 8TAGS, `pearson` and
    `spearman` on CDSC-R and SICK-R, and `avg`, the mean of the accuracies and of Spearman's ρ. With
    cross-validation, an accuracy is the mean over the folds. In the result, `tasks` has each task's sizes,
    development score and choices.

    Args:
        evaluation: the encoder and its settings; the official digests are keyed by task.
        testsets: Parquet file of `prepare_transfer`.
        suite: the suite of the tasks.
        tasks: names of the tasks; None for the whole suite.

    Raises:
        InputError: data are missing, too few, or lack a class; vectors are not finite or all the same.
    """
    encoder, samples = evaluation.encoder, evaluation.bootstrap_samples
    named = {task.name: task for task in TRANSFER_TASKS[suite]}
    chosen = [named[name] for name in tasks or named]
    everything, digests = read_testsets(testsets), evaluation.official_digests()
    measurements: Measurements = {}
    details: dict[str, Details] = {}
    torch.set_num_threads(evaluation.threads)
    for dataset in dict.fromkeys(task.dataset for task in chosen):
        at = f"{testsets}: {dataset}"
        rows = everything[everything["dataset"] == dataset]
        features = _features(encoder, rows, LANGUAGES[suite], at)
        for task in chosen:
            if task.dataset == dataset:
                start = time.monotonic()
                data = _Data(task, rows, features, f"{at}: {encoder.label}")
                measured, details[task.name] = _evaluate(data, suite, samples)
                details[task.name]["official"] = digests.get(task.name) == data.digest
                measurements |= measured
                figures = ", ".join(
                    f"{name} {measurement.value:.4f}" for name, measurement in measured.items()
                )
                log.info("%s: %s, in %.0f s", encoder.label, figures, time.monotonic() - start)
    if suite == "polish" and len(chosen) == len(named):
        averaged = [f"{'accuracy' if task.classes else 'spearman'} {task.name}" for task in chosen]
        measurements["avg"] = mean_of([measurements[name] for name in averaged])
    evaluation.write(suite, measurements, details, tasks=details)


def _features(encoder: Encoder, rows: pd.DataFrame, language: str, at: str) -> Float32:
    """Features of the rows, [n, d]: a sentence's vector, or the `pair_features` of two vectors."""
    if rows.empty:
        raise InputError(f"{at}: there are no data with this name")
    columns = [rows[name] for name in ("sentence1", "sentence2") if rows[name].notna().all()]
    sentences = list(dict.fromkeys(text for column in columns for text in column))
    vectors = finite_vectors(encoder, sentences, language, name=at)
    places = {text: place for place, text in enumerate(sentences)}
    first, *second = (vectors[[places[text] for text in column]] for column in columns)
    return pair_features(first, second[0]) if second else first


class _Data:
    """A task's rows in the order of SentEval's toolkit."""

    def __init__(self, task: TransferTask, rows: pd.DataFrame, features: Float32, at: str) -> None:
        self.task, self.at = task, f"{at}: {task.name}"
        self.digest = transfer_digest(task, rows)
        self._gold = rows["label" if task.classes else "score"].to_numpy()
        self._order = toolkit_order(rows, self._gold)
        self._parts, self._features = rows["part"].to_numpy(), features

    def part(self, name: str) -> tuple[Float32, npt.NDArray[Any]]:
        """Features, and classes or scores, of a part; an `InputError` if nothing can be learned from them."""
        rows = self._order[self._parts[self._order] == name]
        if len(rows) < 2:
            raise InputError(f"{self.at}: part {name!r}: rows: {len(rows)}; at least 2 are needed")
        features, gold = self._features[rows], self._gold[rows]
        if not np.ptp(features, axis=0).any():
            raise InputError(
                f"{self.at}: part {name!r}: all vectors are the same, so nothing can be learned from them"
            )
        for label, of_class in enumerate(self.task.classes):
            if name not in ("dev", "test") and label not in gold:
                raise InputError(f"{self.at}: part {name!r}: no row has the class {of_class!r}")
        return features, gold


def _evaluate(data: _Data, suite: Suite, samples: int) -> tuple[Measurements, Details]:
    """Measurements of a task, and its entry in the result."""
    task, at = data.task, data.at
    parts = {name: data.part(name) for name in SPLITS[task.protocol]}
    said: Details = {"n": {name: len(gold) for name, (_, gold) in parts.items()}}
    _, gold = parts["all" if task.protocol == "nested" else "test"]
    about: Details = {"name": task.name, "digest": data.digest, "samples": samples}
    if task.protocol == "relatedness":
        scores, said["development"] = predict_scores(parts["train"], parts["dev"], parts["test"][0], at=at)
        return correlations(scores, gold, at=at, **about), said
    if task.protocol == "nested":
        classified = nested_cross_validation(parts["all"], names=task.classes, at=at)
    elif task.protocol == "folds":
        classified = cross_validation(parts["train"], parts["test"], names=task.classes, at=at)
    else:
        validation = split_validation if suite == "senteval" else network_validation
        classified = validation(parts["train"], parts["dev"], parts["test"])
    said |= {"development": classified.development, "chosen": list(classified.chosen)}
    # SentEval takes the mean over the folds. Resamples are drawn from all rows, regardless of folds.
    hits = classified.predicted == gold
    of_folds = np.bincount(classified.folds, hits) / np.bincount(classified.folds)
    measurements = {f"accuracy {task.name}": replace(share(hits, **about), value=float(of_folds.mean()))}
    if task.name == "MRPC":
        counts = np.stack([classified.predicted & gold, classified.predicted, gold], axis=1).astype(
            np.float64
        )
        measurements["f1 MRPC"] = precision_recall_f1(counts, **about)["f1"]
    return measurements, said
