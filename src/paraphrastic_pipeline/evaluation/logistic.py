"""Logistic regression on many subsets of the same rows, as cross-validation needs it."""

import logging
import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from paraphrastic.base.arrays import Bool, Float32, Int8, Int64

log = logging.getLogger(__name__)

# With scikit-learn's own tolerance, one prediction in a thousand is another one.
_TOLERANCE, _MAX_STEPS = 1e-5, 2000


def predict_labels(features: Float32, labels: Int64, subsets: Bool, strengths: Sequence[float]) -> Int8:
    """Train a regression on each subset with each strength, and predict all rows with each regression.

    The objective is C times the sum of the rows' cross-entropies plus half the squared weights; the intercept
    is not penalised. Two classes share one logit; three or more have one each.

    Args:
        features: features of all rows, [n, d].
        labels: classes of the rows, 0 to c - 1, [n]. Every subset contains all classes.
        subsets: masks of the rows in each subset, [k, n].
        strengths: values of C, in ascending order; each fit starts at the previous solution.

    Returns:
        Predicted classes, [len(strengths), k, n].
    """
    predicted = np.empty((len(strengths), *subsets.shape), np.int8)
    unfinished = np.zeros(len(strengths), np.int64)
    for number, subset in enumerate(subsets):
        regression = LogisticRegression(tol=_TOLERANCE, max_iter=_MAX_STEPS, warm_start=True)
        rows, classes = features[subset].astype(np.float64), labels[subset]
        for index, strength in enumerate(strengths):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always", ConvergenceWarning)
                regression.set_params(C=strength).fit(rows, classes)
            unfinished[index] += any(issubclass(warning.category, ConvergenceWarning) for warning in told)
            predicted[index, number] = regression.predict(features)
    for strength, count in zip(strengths, unfinished, strict=True):
        if count:
            log.warning("C = %g: %d of %d fits did not converge", strength, count, len(subsets))
    return predicted
