"""SentEval's ways to choose the penalty of a classifier, and to test it (Conneau and Kiela 2018)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from paraphrastic.base.errors import InputError
from paraphrastic.evaluation.networks import Classes, Float64, Int64, predict_classes
from paraphrastic.evaluation.transfer_tasks import SEED

FOLDS = 10
# Values of C, the inverse of the penalty.
STRENGTHS = tuple(2.0**power for power in range(-2, 4))
# The same where the training data are cross-validated, and test data are apart.
FOLD_STRENGTHS = tuple(2.0**power for power in range(-1, 6))
# λ of networks' decay.
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)
# Of L-BFGS, which needs a few hundred at most.
_MAX_ITERATIONS = 1000


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


def nested_cross_validation(rows: Classes, *, names: Sequence[str], at: str, threads: int = 1) -> Classified:
    """Test every row by the regression of the other nine folds, whose C a cross-validation of theirs chose.

    Args:
        rows: features [n, d] and classes.
        names: of the classes, for errors.
        at: the data, for errors.
        threads: of the processor, which fit regressions side by side.

    Raises:
        InputError: a class has too few rows.
    """
    predicted, folds = np.zeros_like(rows[1]), np.zeros_like(rows[1])
    chosen: list[float] = []
    scores = []
    for fold, (train, test) in enumerate(_folds(rows[1], names, at)):
        found = cross_validation(
            _at(rows, train), _at(rows, test), names=names, at=at, strengths=STRENGTHS, threads=threads
        )
        predicted[test], folds[test] = found.predicted, fold
        chosen += found.chosen
        scores.append(found.development)
    return Classified(predicted, folds, tuple(chosen), float(np.mean(scores)))


def cross_validation(
    train: Classes,
    test: Classes,
    *,
    names: Sequence[str],
    at: str,
    strengths: Sequence[float] = FOLD_STRENGTHS,
    threads: int = 1,
) -> Classified:
    """Test by the regression of all training rows, whose C a cross-validation of these chose.

    Args:
        train: features [n, d] and classes.
        test: the same of the test data.
        names: of the classes, for errors.
        at: the data, for errors.
        strengths: values of C, in ascending order.
        threads: of the processor, which fit regressions side by side.

    Raises:
        InputError: a class has too few rows.
    """
    folds = _folds(train[1], names, at)
    # The folds share the threads, so that the digits do not depend on how many there are.
    with threadpool_limits(1):
        accuracies = Parallel(n_jobs=threads, prefer="threads")(
            delayed(_accuracies)(_at(train, rest), _at(train, fold), strengths) for rest, fold in folds
        )
        best, score = _best(np.mean(accuracies, axis=0))
        return _tested(train, test, strengths[best], score)


def split_validation(train: Classes, dev: Classes, test: Classes) -> Classified:
    """Test by the regression of the training rows whose C is best on the development data.

    Args:
        train: features [n, d] and classes, each at least once.
        dev: the same of the development data.
        test: the same of the test data.
    """
    with threadpool_limits(1):
        best, score = _best(_accuracies(train, dev, STRENGTHS))
        return _tested(train, test, STRENGTHS[best], score)


def network_validation(train: Classes, dev: Classes, test: Classes) -> Classified:
    """The same with a network that has a hidden layer, and its λ (Dadas 2022, section V)."""
    found = [predict_classes(train, dev, test[0], penalty=penalty) for penalty in PENALTIES]
    best, score = _best(np.array([accuracy for _, accuracy in found]))
    predicted = found[best][0]
    return Classified(predicted, np.zeros_like(predicted), (PENALTIES[best],), score)


def _folds(labels: Int64, names: Sequence[str], at: str) -> list[tuple[Int64, Int64]]:
    """The rows that are trained on and those that are tested, for each fold."""
    counts = np.bincount(labels, minlength=len(names))
    if counts.min() < FOLDS:
        name, count = names[int(counts.argmin())], counts.min()
        raise InputError(f"{at}: class {name!r} has {count} rows where {FOLDS} folds are made of them")
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(labels, labels))


def _accuracies(train: Classes, test: Classes, strengths: Sequence[float]) -> Float64:
    """The accuracy with each C; each fit begins at the solution for the C before it."""
    regression = LogisticRegression(warm_start=True, max_iter=_MAX_ITERATIONS)
    return np.array([regression.set_params(C=each).fit(*train).score(*test) for each in strengths])


def _tested(train: Classes, test: Classes, strength: float, development: float) -> Classified:
    predicted = LogisticRegression(C=strength, max_iter=_MAX_ITERATIONS).fit(*train).predict(test[0])
    return Classified(predicted, np.zeros_like(predicted), (strength,), development)


def _best(accuracies: Float64) -> tuple[int, float]:
    """The highest accuracy; of those equal to two decimals of a per cent, as SentEval rounds, the first."""
    best = int(np.argmax([round(100 * accuracy, 2) for accuracy in accuracies]))
    return best, float(accuracies[best])


def _at(rows: Classes, places: Int64) -> Classes:
    return rows[0][places], rows[1][places]
