"""SentEval's protocols for choosing a classifier's penalty and for testing it (Conneau and Kiela 2018).

Rows are features [n, d] with their classes, 0 to c - 1. Error messages name the classes by `names` and the
data by `at`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from paraphrastic.base.arrays import Bool, Float32, Float64, Int64
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.networks import SEED, Classes, predict_classes

FOLDS = 10
# Values of C, the inverse of the penalty.
STRENGTHS = tuple(2.0**power for power in range(-2, 4))
# Values of C if the training data are cross-validated and the test data are separate.
FOLD_STRENGTHS = tuple(2.0**power for power in range(-1, 6))
# Values of λ, the weight decay of networks.
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)
# With scikit-learn's own tolerance, one prediction in a thousand is another one.
_TOLERANCE, _MAX_STEPS = 1e-5, 2000


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
    predicted, folds = np.zeros_like(labels), np.zeros_like(labels)
    chosen, scores = [], []
    for fold, test in enumerate(_folds(labels, names, at)):
        train = features[~test], labels[~test]
        best, score = _cross_validated(train, STRENGTHS, names, at)
        predicted[test], folds[test] = _predictions(train, features[test], STRENGTHS)[best], fold
        chosen.append(STRENGTHS[best])
        scores.append(score)
    return Classified(predicted, folds, tuple(chosen), float(np.mean(scores)))


def cross_validation(train: Classes, test: Classes, *, names: Sequence[str], at: str) -> Classified:
    """Test a regression trained on all training rows; cross-validation of these rows chooses its C.

    Raises:
        InputError: a class has too few rows.
    """
    best, score = _cross_validated(train, FOLD_STRENGTHS, names, at)
    return _one_test(_predictions(train, test[0], FOLD_STRENGTHS)[best], FOLD_STRENGTHS[best], score)


def split_validation(train: Classes, dev: Classes, test: Classes) -> Classified:
    """Test a regression with the C that is best on `dev`; the training rows must contain all classes."""
    predicted = _predictions(train, np.concatenate([dev[0], test[0]]), STRENGTHS)
    best, score = _best((predicted[:, : len(dev[1])] == dev[1]).mean(axis=1))
    return _one_test(predicted[best, len(dev[1]) :], STRENGTHS[best], score)


def network_validation(train: Classes, dev: Classes, test: Classes) -> Classified:
    """Test a network with one hidden layer and the λ that is best on `dev` (Dadas 2022, section V)."""
    predictions = [predict_classes(train, dev, test[0], penalty=penalty) for penalty in PENALTIES]
    best, score = _best(np.array([accuracy for _, accuracy in predictions]))
    return _one_test(predictions[best][0], PENALTIES[best], score)


def _predictions(train: Classes, features: Float32, strengths: Sequence[float]) -> Int64:
    """Classes of rows by regressions trained with each strength, [s, n].

    The objective is C times the sum of the rows' cross-entropies plus half the squared weights; the intercept
    is not penalised. Strengths ascend, and each fit starts at the previous solution.
    """
    regression = LogisticRegression(tol=_TOLERANCE, max_iter=_MAX_STEPS, warm_start=True)
    rows = train[0].astype(np.float64)
    # For so few rows, more threads take longer.
    with threadpool_limits(1):
        fits = (regression.set_params(C=strength).fit(rows, train[1]) for strength in strengths)
        return np.stack([fit.predict(features) for fit in fits])


def _cross_validated(
    rows: Classes, strengths: Sequence[float], names: Sequence[str], at: str
) -> tuple[int, float]:
    """Index and accuracy of the strength that is best on the folds of the rows."""
    features, labels = rows
    accuracies = []
    for test in _folds(labels, names, at):
        predicted = _predictions((features[~test], labels[~test]), features[test], strengths)
        accuracies.append((predicted == labels[test]).mean(axis=1))
    return _best(np.stack(accuracies, axis=1).mean(axis=1))


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


def _best(accuracies: Float64) -> tuple[int, float]:
    """Index and value of the highest accuracy; the first in a tie after SentEval's rounding to 0.01 %."""
    best = int(np.argmax([round(100 * accuracy, 2) for accuracy in accuracies]))
    return best, float(accuracies[best])


def _one_test(predicted: Int64, chosen: float, score: float) -> Classified:
    return Classified(predicted, np.zeros(len(predicted), np.int64), (chosen,), score)
