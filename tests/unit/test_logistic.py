"""Test logistic regression on many subsets: its objective, and the way from one strength to the next."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from paraphrastic_pipeline.evaluation.logistic import predict_labels

STRENGTHS = (0.25, 2.0, 32.0)


def rows(n: int, dim: int, classes: int, *, scale: float = 1.0, noise: float = 1.0) -> tuple:
    """Return features whose directions differ greatly in size, and classes that depend on them."""
    generator = np.random.default_rng(n + dim)
    features = generator.normal(size=(n, dim)) * np.logspace(0, -2, dim) + 0.3
    told = features @ generator.normal(size=(dim, classes)) + noise * generator.normal(size=(n, classes))
    return (scale * features).astype(np.float32), told.argmax(axis=1)


def some_subsets(n: int, count: int) -> np.ndarray:
    generator = np.random.default_rng(n)
    return generator.random((count, n)) < 0.8


def of_sklearn(features: np.ndarray, labels: np.ndarray, subset: np.ndarray, strength: float) -> np.ndarray:
    regression = LogisticRegression(C=strength, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    return regression.fit(features[subset].astype(np.float64), labels[subset]).predict(features)


@pytest.mark.parametrize(
    ("n", "dim", "classes", "scale", "noise", "floor"),
    [
        # Large features of very different sizes let L-BFGS stop early.
        *((1000, 30, classes, 30.0, 1.0, 0.99) for classes in (2, 3, 6)),
        *((1000, 30, classes, scale, 1.0, 0.999) for classes in (2, 3, 6) for scale in (0.05, 1.0)),
        # The classes can be told apart without an error. If only the penalty keeps the weights finite, each
        # fold has a different curvature.
        *((200, 150, classes, 20.0, 0.0, 0.99) for classes in (2, 4)),
    ],
)
def test_predictions_are_those_of_scikit_learn(
    n: int, dim: int, classes: int, scale: float, noise: float, floor: float
) -> None:
    features, labels = rows(n, dim, classes, scale=scale, noise=noise)
    subsets = some_subsets(n, 4)
    found = predict_labels(features, labels, subsets, STRENGTHS)
    assert found.shape == (3, 4, n)
    expected = [[of_sklearn(features, labels, each, strength) for each in subsets] for strength in STRENGTHS]
    assert (found == np.array(expected)).mean() > floor


def test_strengths_after_one_another_are_as_alone() -> None:
    features, labels = rows(800, 20, 2)
    subsets = some_subsets(800, 3)
    together = predict_labels(features, labels, subsets, STRENGTHS)
    alone = [predict_labels(features, labels, subsets, [strength])[0] for strength in STRENGTHS]
    assert (together == np.array(alone)).mean() > 0.999
    assert (together[0] != together[2]).any()


def test_features_that_tell_nothing_give_the_larger_class() -> None:
    labels = np.array([0, 1, 1, 1, 0, 1])
    found = predict_labels(np.zeros((6, 3), np.float32), labels, np.ones((1, 6), bool), [1.0])
    assert found.tolist() == [[[1] * 6]]


@pytest.mark.parametrize(("steps", "told"), [(1, ["C = 1: 2 of 2 fits did not converge"]), (2000, [])])
def test_fits_that_do_not_converge_are_told(
    steps: int, told: list[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paraphrastic_pipeline.evaluation.logistic._MAX_STEPS", steps)
    features, labels = rows(300, 10, 2)
    predict_labels(features, labels, some_subsets(300, 2), [1.0])
    assert caplog.messages == told
