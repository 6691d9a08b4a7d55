"""SentEval's protocols for choosing a classifier's penalty and for testing it (Conneau and Kiela 2018).

Rows are features [n, d] with their classes, 0 to c - 1. Error messages name the classes by `names` and the
data by `at`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from paraphrastic.base.arrays import Bool, Float32, Float64, Int8, Int64
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.logistic import predict_labels
from paraphrastic_pipeline.evaluation.networks import SEED, Classes, predict_classes

FOLDS = 10
# Values of C, the inverse of the penalty.
STRENGTHS = tuple(2.0**power for power in range(-2, 4))
# Values of C if the training data are cross-validated and the test data are separate.
FOLD_STRENGTHS = tuple(2.0**power for power in range(-1, 6))
# Values of λ, the weight decay of networks.
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True, slots=True)
class Classified:
    """Predictions for the tested rows.

    Attributes:
        predicted: predicted classes of the tested rows, in order.
        folds: fold of each tested row; all 0 if there is a single test set.
        chosen: the chosen C or λ of each fold.
        development: accuracy of the chosen values on held-out data, the mean over the folds.
    """

    predicted: Int64
    folds: Int64
    chosen: tuple[float, ...]
    development: float


def nested_cross_validation(rows: Classes, *, names: Sequence[str], at: str) -> Classified:
    """Test each fold with a regression trained on the other nine; cross-validation of these chooses its C.

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
    """Test a regression trained on all training rows; cross-validation of these rows chooses its C.

    Raises:
        InputError: a class has too few rows.
    """
    features, labels = _together(train, test)
    is_train = np.arange(len(labels)) < len(train[1])
    folds = np.pad(_folds(train[1], names, at), ((0, 0), (0, len(test[1]))))
    subsets = np.concatenate([is_train[None], is_train & ~folds])
    return _tested(features, labels, subsets, folds, ~is_train, FOLD_STRENGTHS)


def split_validation(train: Classes, dev: Classes, test: Classes) -> Classified:
    """Test a regression with the C that is best on `dev`; the training rows must contain all classes."""
    features, labels = _together(train, dev, test)
    part = np.repeat([0, 1, 2], [len(train[1]), len(dev[1]), len(test[1])])
    return _tested(features, labels, (part == 0)[None], (part == 1)[None], part == 2, STRENGTHS)


def network_validation(train: Classes, dev: Classes, test: Classes) -> Classified:
    """Test a network with one hidden layer and the λ that is best on `dev` (Dadas 2022, section V)."""
    predictions = [predict_classes(train, dev, test[0], penalty=penalty) for penalty in PENALTIES]
    best, score = _best(np.array([accuracy for _, accuracy in predictions]))
    return _one_test(predictions[best][0], PENALTIES[best], score)


def _folds(labels: Int64, names: Sequence[str], at: str) -> Bool:
    """Masks of the rows that each fold tests, [folds, n]."""
    counts = np.bincount(labels, minlength=len(names))
    if counts.min() < FOLDS:
        name, count = names[int(counts.argmin())], counts.min()
        raise InputError(f"{at}: class {name!r} has {count} rows, which is too few for {FOLDS} folds")
    folds = np.zeros((FOLDS, len(labels)), bool)
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(labels, labels)
    for fold, (_, test) in zip(folds, splits, strict=True):
        fold[test] = True
    return folds


def _accuracies(predicted: Int8, labels: Int64, tests: Bool) -> Float64:
    """Accuracies [s, k] of the predictions [s, k, n]; `tests` [k, n] masks the rows to count for each k."""
    hits = predicted == labels
    return np.stack([hits[:, index, test].mean(axis=1) for index, test in enumerate(tests)], axis=1)


def _best(accuracies: Float64) -> tuple[int, float]:
    """Index and value of the highest accuracy; the first in a tie after SentEval's rounding to 0.01 %."""
    best = int(np.argmax([round(100 * accuracy, 2) for accuracy in accuracies]))
    return best, float(accuracies[best])


def _together(*parts: Classes) -> Classes:
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _tested(
    features: Float32, labels: Int64, subsets: Bool, tests: Bool, tested: Bool, strengths: Sequence[float]
) -> Classified:
    """Test the first subset's regression, with the C at which the last subsets do best on their `tests`."""
    predicted = predict_labels(features, labels, subsets, strengths)
    best, score = _best(_accuracies(predicted[:, -len(tests) :], labels, tests).mean(axis=1))
    return _one_test(predicted[best, 0, tested], strengths[best], score)


def _one_test(predicted: npt.NDArray[np.integer[Any]], chosen: float, score: float) -> Classified:
    return Classified(predicted.astype(np.int64), np.zeros(len(predicted), np.int64), (chosen,), score)
