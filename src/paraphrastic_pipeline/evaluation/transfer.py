"""Transfer tasks: how well sentence vectors predict classes of sentences or relations of pairs."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from paraphrastic.base.arrays import Float32, Float64, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.model.encoder import Encoder, finite_vectors
from paraphrastic_pipeline.evaluation.cross_validation import (
    Classified,
    cross_validation,
    nested_cross_validation,
    network_validation,
    split_validation,
)
from paraphrastic_pipeline.evaluation.figures import (
    Data,
    Figures,
    correlations,
    mean_of,
    precision_recall_f1,
    share,
)
from paraphrastic_pipeline.evaluation.networks import pair_features, predict_scores, toolkit_order
from paraphrastic_pipeline.evaluation.testsets import read_testsets
from paraphrastic_pipeline.evaluation.transfer_data import (
    LANGUAGES,
    SPLITS,
    TRANSFER_TASKS,
    Suite,
    TransferTask,
    transfer_digest,
)

log = logging.getLogger(__name__)


def evaluate_transfer(
    encoder: Encoder, testsets: Path, *, suite: Suite, tasks: Sequence[str] | None = None
) -> Figures:
    """Evaluate on the tasks of a suite.

    `senteval` (Conneau and Kiela 2018; Wieting and Gimpel 2018, Table 8) measures the `accuracy` on MR, CR,
    SUBJ, MPQA, SST-2, TREC, MRPC and SICK-E, `f1 MRPC`, `pearson SICK-R` and `spearman SICK-R`. `polish`
    (Dadas 2022, Table I) measures the `accuracy` on PPC, CR-H, CR-M, CDSC-E, SICK-E and 8TAGS, `pearson` and
    `spearman` on CDSC-R and SICK-R, and `avg`, the mean of the accuracies and of Spearman's ρ. With
    cross-validation, an accuracy is the mean over the folds. The data set of a task has its sizes, the
    development score and what was chosen by it.

    Args:
        encoder: the encoder.
        testsets: Parquet file of `prepare_transfer`.
        suite: the suite of the tasks.
        tasks: names of the tasks; None for the whole suite.

    Raises:
        InputError: data are missing, too few, or lack a class; vectors are not finite or all the same.
    """
    everything = read_testsets(testsets)
    chosen = [task for task in TRANSFER_TASKS[suite] if tasks is None or task.name in tasks]
    figures: Figures = {}
    for dataset in dict.fromkeys(task.dataset for task in chosen):
        at = f"{testsets}: {dataset}"
        rows = everything[everything.dataset == dataset]
        features = _features(encoder, rows, LANGUAGES[suite], at)
        for task in (task for task in chosen if task.dataset == dataset):
            start = time.monotonic()
            measured = _evaluate(_Rows(task, rows, features, f"{at}: {encoder.label}: {task.name}"), suite)
            said = ", ".join(f"{name} {figure.value:.4f}" for name, figure in measured.items())
            log.info("%s: %s, in %.0f s", encoder.label, said, time.monotonic() - start)
            figures |= measured
    if suite == "polish" and tasks is None:
        averaged = [f"{'accuracy' if task.classes else 'spearman'} {task.name}" for task in chosen]
        figures["avg"] = mean_of([figures[name] for name in averaged])
    return figures


def _features(encoder: Encoder, rows: pd.DataFrame, language: str, at: str) -> Float32:
    """Features of the rows, [n, d]: a sentence's vector, or the `pair_features` of two vectors."""
    if rows.empty:
        raise InputError(f"{at}: there are no data with this name")
    columns = [column for column in (rows.sentence1, rows.sentence2) if column.notna().all()]
    numbers, sentences = pd.factorize(pd.concat(columns))
    vectors = finite_vectors(encoder, list(sentences), language, name=at)
    first, *second = (vectors[side] for side in numbers.reshape(len(columns), -1))
    return pair_features(first, second[0]) if second else first


@dataclass(frozen=True, slots=True)
class _Rows:
    """A task's rows [n] with their features [n, d]."""

    task: TransferTask
    rows: pd.DataFrame
    features: Float32
    at: str

    @property
    def gold(self) -> npt.NDArray[Any]:
        """Classes or scores, [n]."""
        return (self.rows.label if self.task.classes else self.rows.score).to_numpy()

    def part(self, name: str) -> tuple[Float32, npt.NDArray[Any]]:
        """Features, and classes or scores, of a part in the order of SentEval's toolkit.

        Raises:
            InputError: nothing can be learned from them.
        """
        order = toolkit_order(self.rows, self.gold)
        order = order[self.rows.part.to_numpy()[order] == name]
        features, gold = self.features[order], self.gold[order]
        at = f"{self.at}: part {name!r}"
        if len(order) < 2:
            raise InputError(f"{at}: rows: {len(order)}; at least 2 are needed")
        if not np.ptp(features, axis=0).any():
            raise InputError(f"{at}: all vectors are the same, so nothing can be learned from them")
        for label, of_class in enumerate(self.task.classes):
            if name not in ("dev", "test") and label not in gold:
                raise InputError(f"{at}: no row has the class {of_class!r}")
        return features, gold


def _evaluate(rows: _Rows, suite: Suite) -> Figures:
    """The figures of a task."""
    task, at = rows.task, rows.at
    parts = {name: rows.part(name) for name in SPLITS[task.protocol]}
    _, gold = parts["all" if task.protocol == "nested" else "test"]
    about: dict[str, Any] = {"n": {name: len(golds) for name, (_, golds) in parts.items()}}
    data = [Data(name=task.name, digest=transfer_digest(task, rows.rows), about=about)]
    if task.protocol == "relatedness":
        scores, about["development"] = predict_scores(parts["train"], parts["dev"], parts["test"][0], at=at)
        return correlations(task.name, scores, gold, data=data, at=at)
    if task.protocol == "nested":
        classified = nested_cross_validation(parts["all"], names=task.classes, at=at)
    elif task.protocol == "folds":
        classified = cross_validation(parts["train"], parts["test"], names=task.classes, at=at)
    else:
        validation = split_validation if suite == "senteval" else network_validation
        classified = validation(parts["train"], parts["dev"], parts["test"])
    about |= {"development": classified.development, "chosen": list(classified.chosen)}
    return _figures_of_classes(task, classified, gold, data)


def _figures_of_classes(
    task: TransferTask, classified: Classified, gold: Int64, data: Sequence[Data]
) -> Figures:
    # SentEval takes the mean over the folds. Resamples are drawn from all rows, regardless of folds.
    hits = classified.predicted == gold
    of_folds = np.bincount(classified.folds, hits) / np.bincount(classified.folds)
    accuracy = share(hits, seed=task.name, data=data)
    figures = {f"accuracy {task.name}": replace(accuracy, value=float(of_folds.mean()))}
    if task.name == "MRPC":
        columns = (classified.predicted & gold, classified.predicted, gold)
        counts: Float64 = np.stack(columns, axis=1).astype(np.float64)
        figures["f1 MRPC"] = precision_recall_f1(counts, seed=task.name, data=data)["f1"]
    return figures
