"""SentEval's ways to choose the penalty of a classifier, and to test it (Conneau and Kiela 2018)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from paraphrastic.base.errors import InputError
from paraphrastic.evaluation.logistic import predict_labels
from paraphrastic.evaluation.networks import SEED, Classes, Float64, Int64, predict_classes

Bool = npt.NDArray[np.bool_]

FOLDS = 10
# Values of C, the inverse of the penalty.
STRENGTHS = tuple(2.0**power for power in range(-2, 4))
# The same where the training data are cross-validated, and test data are apart.
FOLD_STRENGTHS = tuple(2.0**power for power in range(-1, 6))
# λ of networks' decay.
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True, slots=True)
class Classified:
    """Predictions of a test.

    Attributes:
        predicted: classes of the rows that were tested, in their order.
        folds: of these rows; zeros where there is one test set.
        chosen: C or λ, for each fold.
        development: accuracy by which it was chosen, the mean over the folds.
    """

    predicted: Int64
    folds: Int64
    chosen: tuple[float, ...]
    development: float


def nested_cross_validation(rows: Classes, *, names: Sequence[str], at: str) -> Classified:
    """Test every row by the regression of the other nine folds, whose C a cross-validation of theirs chose.

    Args:
        rows: features [n, d] and classes.
        names: of the classes, for errors.
        at: the data, for errors.

    Raises:
        InputError: a class has too few rows.
    """
    features, labels = rows
    outer = _folds(labels, names, at)
    inner = np.zeros((FOLDS, *outer.shape), bool)
    for test, tests in zip(outer, inner, strict=True):
        tests[:, ~test] = _folds(labels[~test], names, at)
    inner = inner.reshape(FOLDS * FOLDS, -1)
    subsets = np.concatenate([~outer, np.repeat(~outer, FOLDS, axis=0) & ~inner])
    predicted = predict_labels(features, labels, subsets, STRENGTHS)
    accuracies = _accuracies(predicted[:, FOLDS:], labels, inner).reshape(len(STRENGTHS), FOLDS, FOLDS)
    best = [_best(of_fold) for of_fold in accuracies.mean(axis=2).T]
    of_rows, folds = np.zeros_like(labels), np.zeros_like(labels)
    for index, (test, (strength, _)) in enumerate(zip(outer, best, strict=True)):
        of_rows[test], folds[test] = predicted[strength, index, test], index
    chosen = tuple(STRENGTHS[strength] for strength, _ in best)
    return Classified(of_rows, folds, chosen, float(np.mean([score for _, score in best])))


def cross_validation(train: Classes, test: Classes, *, names: Sequence[str], at: str) -> Classified:
    """Test by the regression of all training rows, whose C a cross-validation of these chose.

    Args:
        train: features [n, d] and classes.
        test: the same of the test data.
        names: of the classes, for errors.
        at: the data, for errors.

    Raises:
        InputError: a class has too few rows.
    """
    features, labels = _together(train, test)
    is_train = np.arange(len(labels)) < len(train[1])
    folds = np.pad(_folds(train[1], names, at), ((0, 0), (0, len(test[1]))))
    subsets = np.concatenate([is_train[None], is_train & ~folds])
    predicted = predict_labels(features, labels, subsets, FOLD_STRENGTHS)
    best, score = _best(_accuracies(predicted[:, 1:], labels, folds).mean(axis=1))
    return _tested(predicted[best, 0, ~is_train], FOLD_STRENGTHS[best], score)


def split_validation(train: Classes, dev: Classes, test: Classes) -> Classified:
    """Test by the regression of the training rows whose C is best on the development data.

    Args:
        train: features [n, d] and classes, each at least once.
        dev: the same of the development data.
        test: the same of the test data.
    """
    features, labels = _together(train, dev, test)
    part = np.repeat([0, 1, 2], [len(train[1]), len(dev[1]), len(test[1])])
    predicted = predict_labels(features, labels, (part == 0)[None], STRENGTHS)
    best, score = _best(_accuracies(predicted, labels, [part == 1])[:, 0])
    return _tested(predicted[best, 0, part == 2], STRENGTHS[best], score)


def network_validation(train: Classes, dev: Classes, test: Classes) -> Classified:
    """The same of a network with a hidden layer, and its λ (Dadas 2022, section V)."""
    found = [predict_classes(train, dev, test[0], penalty=penalty) for penalty in PENALTIES]
    best, score = _best(np.array([accuracy for _, accuracy in found]))
    return _tested(found[best][0], PENALTIES[best], score)


def _folds(labels: Int64, names: Sequence[str], at: str) -> Bool:
    """Which rows each fold tests, [folds, n]."""
    counts = np.bincount(labels, minlength=len(names))
    if counts.min() < FOLDS:
        name, count = names[int(counts.argmin())], counts.min()
        raise InputError(f"{at}: class {name!r} has {count} rows where {FOLDS} folds are made of them")
    folds = np.zeros((FOLDS, len(labels)), bool)
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(labels, labels)
    for fold, (_, test) in zip(folds, splits, strict=True):
        fold[test] = True
    return folds


def _accuracies(predicted: npt.NDArray[np.int8], labels: Int64, tests: Sequence[Bool] | Bool) -> Float64:
    """Of the predictions [s, k, n], on the rows of one test for each k; [s, k]."""
    hits = predicted == labels
    return np.stack([hits[:, index, test].mean(axis=1) for index, test in enumerate(tests)], axis=1)


def _best(accuracies: Float64) -> tuple[int, float]:
    """The highest accuracy; of those equal to two decimals of a per cent, as SentEval rounds, the first."""
    best = int(np.argmax([round(100 * accuracy, 2) for accuracy in accuracies]))
    return best, float(accuracies[best])


def _together(*parts: Classes) -> Classes:
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _tested(predicted: npt.NDArray[np.integer[Any]], chosen: float, score: float) -> Classified:
    return Classified(predicted.astype(np.int64), np.zeros(len(predicted), np.int64), (chosen,), score)
