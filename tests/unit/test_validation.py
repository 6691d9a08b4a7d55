"""Test SentEval's protocols against plain versions that fit scikit-learn's models one by one."""

import copy
from itertools import islice

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from paraphrastic_pipeline.evaluation import networks
from paraphrastic_pipeline.evaluation.networks import Schedule, predict_classes, predict_scores
from paraphrastic_pipeline.evaluation.transfer import (
    _regression,
    cross_validation,
    nested_cross_validation,
    network_validation,
    split_validation,
)


def rows(n: int, dim: int, classes: int, *, scale: float = 1.0, noise: float = 1.0) -> tuple:
    """Return features whose directions differ greatly in size, and classes that depend on them."""
    generator = np.random.default_rng(n + dim)
    features = generator.normal(size=(n, dim)) * np.logspace(0, -2, dim) + 0.3
    told = features @ generator.normal(size=(dim, classes)) + noise * generator.normal(size=(n, classes))
    return (scale * features).astype(np.float32), told.argmax(axis=1)


def fitted(features: np.ndarray, labels: np.ndarray, strength: float) -> LogisticRegression:
    regression = LogisticRegression(C=strength, solver="newton-cholesky", tol=1e-9, max_iter=500)
    return regression.fit(features.astype(np.float64), labels)


def folds() -> StratifiedKFold:
    return StratifiedKFold(n_splits=10, shuffle=True, random_state=1111)


def cross_validated(features: np.ndarray, labels: np.ndarray, strength: float) -> float:
    """The mean accuracy over the folds."""
    return float(
        np.mean(
            [
                fitted(features[a], labels[a], strength).score(features[b], labels[b])
                for a, b in folds().split(features, labels)
            ]
        )
    )


def best_of(strengths: list[float], scores: list[float]) -> float:
    return strengths[int(np.argmax([round(100 * score, 2) for score in scores]))]


@pytest.mark.parametrize(
    ("n", "dim", "classes", "scale", "noise", "floor"),
    [
        # Large features of very different sizes let L-BFGS stop early.
        *((1000, 30, classes, 30.0, 1.0, 0.99) for classes in (2, 4)),
        *((1000, 30, classes, scale, 1.0, 0.999) for classes in (2, 6) for scale in (0.05, 1.0)),
        # The classes can be told apart without an error, and only the penalty keeps the weights finite.
        *((200, 150, classes, 20.0, 0.0, 0.99) for classes in (2, 4)),
    ],
)
def test_regressions_are_fitted_to_the_end(
    n: int, dim: int, classes: int, scale: float, noise: float, floor: float
) -> None:
    features, labels = rows(n, dim, classes, scale=scale, noise=noise)
    for strength in (0.25, 2.0, 32.0):
        found = _regression((features, labels), features, (strength,), StratifiedKFold(2)).predicted
        assert (found == fitted(features, labels, strength).predict(features)).mean() >= floor


def test_nested_cross_validation() -> None:
    features, labels = rows(260, 8, 2, noise=3)
    strengths = [2.0**t for t in range(-2, 4)]
    found = nested_cross_validation((features, labels))
    assert len(set(found.chosen)) > 1
    # Three folds show what all ten would.
    for index, (train, test) in enumerate(islice(folds().split(features, labels), 3)):
        scores = [cross_validated(features[train], labels[train], strength) for strength in strengths]
        assert found.chosen[index] == best_of(strengths, scores)
        expected = fitted(features[train], labels[train], found.chosen[index]).predict(features[test])
        np.testing.assert_array_equal(found.predicted[test], expected)


def test_cross_validation_with_test_data_apart() -> None:
    features, labels = rows(400, 10, 4, noise=2)
    train, test = (features[:300], labels[:300]), (features[300:], labels[300:])
    strengths = [2.0**t for t in range(-1, 6)]
    scores = [cross_validated(*train, strength) for strength in strengths]
    found = cross_validation(train, test[0])
    strength = best_of(strengths, scores)
    assert found.chosen == [strength]
    np.testing.assert_array_equal(found.predicted, fitted(*train, strength).predict(test[0]))


def test_split_validation() -> None:
    features, labels = rows(500, 12, 3, noise=2)
    train, dev, test = ((features[part], labels[part]) for part in np.split(np.arange(500), [300, 400]))
    strengths = [2.0**t for t in range(-2, 4)]
    scores = [fitted(*train, strength).score(*dev) for strength in strengths]
    found = split_validation(train, dev, test[0])
    assert found.chosen == [best_of(strengths, scores)]
    np.testing.assert_array_equal(found.predicted, fitted(*train, found.chosen[0]).predict(test[0]))


def trained_plainly(network, optimizer, loss, score, features, targets, schedule):
    """Train with the loop of SentEval's toolkit."""
    orders = np.random.RandomState(1111)
    features, targets = torch.from_numpy(features), torch.from_numpy(targets)
    best, kept, count, epoch, stop = -1.0, None, 0, 0, False
    while not stop and epoch <= schedule.max_epochs:
        for _ in range(schedule.epochs):
            order = orders.permutation(len(features))
            for start in range(0, len(features), schedule.batch_size):
                batch = torch.from_numpy(order[start : start + schedule.batch_size])
                optimizer.zero_grad()
                loss(network(features[batch]), targets[batch]).backward()
                optimizer.step()
        epoch += schedule.epochs
        reached = score(network)
        if reached > best:
            best, kept = reached, copy.deepcopy(network)
        else:
            stop = count >= schedule.patience
            count += 1
    return kept, best


def scored(n: int, dim: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(n)
    features = generator.normal(size=(n, dim))
    scores = np.clip(3 + features @ generator.normal(size=dim) / 2, 1, 5).round(1)
    return features.astype(np.float32), scores


def test_relatedness(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = Schedule(batch_size=64, epochs=5, max_epochs=100, patience=3)
    monkeypatch.setattr(networks, "RELATEDNESS", schedule)
    features, scores = scored(500, 10)
    parts = np.split(np.arange(500), [300, 400])
    train, dev, test = ((features[part], scores[part]) for part in parts)
    targets = np.zeros((300, 5), np.float32)
    for row, score in enumerate(train[1]):
        low = int(np.floor(score))
        targets[row, low - 1] += low + 1 - score
        if low < 5:
            targets[row, low] += score - low
    np.testing.assert_allclose(targets.sum(1), 1, atol=1e-6)

    def expectation(network, rows):
        with torch.no_grad():
            return network(torch.from_numpy(rows)).double().numpy() @ np.arange(1, 6)

    torch.manual_seed(1111)
    network = torch.nn.Sequential(torch.nn.Linear(10, 5), torch.nn.Softmax(dim=1))
    network, _ = trained_plainly(
        network,
        torch.optim.Adam(network.parameters()),
        torch.nn.MSELoss(),
        lambda network: stats.pearsonr(expectation(network, dev[0]), dev[1]).statistic,
        train[0],
        targets,
        schedule,
    )
    predicted = predict_scores(train, dev, test[0], at="x")
    np.testing.assert_allclose(predicted, expectation(network, test[0]), atol=1e-5)
    assert stats.pearsonr(predicted, test[1]).statistic > 0.8


def test_scores_below_one_are_a_share_of_the_first() -> None:
    spread = networks._spread(np.array([0.0, 0.25, 1.0, 2.75, 5.0]))
    expected = [[0, 0, 0, 0, 0], [0.25, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0.25, 0.75, 0, 0], [0, 0, 0, 0, 1]]
    np.testing.assert_allclose(spread, expected)


def test_a_network_with_a_hidden_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = Schedule(batch_size=128, epochs=2, max_epochs=40, patience=3)
    monkeypatch.setattr(networks, "PERCEPTRON", schedule)
    features, labels = rows(900, 12, 3)
    train, dev, test = ((features[part], labels[part]) for part in np.split(np.arange(900), [500, 700]))

    def classes(network, rows):
        with torch.no_grad():
            return network(torch.from_numpy(rows)).argmax(1).numpy()

    penalties, expected = (1e-5, 1e-4, 1e-3, 1e-2), []
    for penalty in penalties:
        torch.manual_seed(1111)
        network = torch.nn.Sequential(torch.nn.Linear(12, 50), torch.nn.Sigmoid(), torch.nn.Linear(50, 3))
        network, best = trained_plainly(
            network,
            torch.optim.RMSprop(network.parameters(), weight_decay=penalty),
            torch.nn.CrossEntropyLoss(),
            lambda network: (classes(network, dev[0]) == dev[1]).mean(),
            *train,
            schedule,
        )
        expected.append((classes(network, test[0]), best))
    found = network_validation(train, dev, test[0])
    best = best_of(list(penalties), [best for _, best in expected])
    assert found.chosen == [best]
    np.testing.assert_array_equal(found.predicted, expected[penalties.index(best)][0])
    assert (found.predicted == test[1]).mean() > 0.5


def test_networks_are_the_same_whatever_was_drawn_before() -> None:
    features, labels = rows(400, 12, 3)
    data = (features[:300], labels[:300]), (features[300:], labels[300:])
    first = predict_classes(*data, features, penalty=1e-4)
    state = torch.get_rng_state()
    torch.set_num_threads(2)
    second = predict_classes(*data, features, penalty=1e-4)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)
    np.testing.assert_array_equal(first[0], second[0])
    assert first[1] == second[1]
    assert torch.equal(state, torch.get_rng_state())
