"""Small networks on fixed vectors, trained as SentEval trains them: until the development data say stop."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import torch
from torch import nn

from paraphrastic.evaluation.correlation import pearson

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

# Features of rows, [n, d], and what they are to tell.
Scores = tuple[Float32, Float64]
Classes = tuple[Float32, Int64]

# SentEval's seed, for all folds, for networks before training and for the order of their batches.
SEED = 1111
HIDDEN = 50
# Relatedness scores are spread over the classes 1 to 5.
CLASSES = 5


def pair_features(first: Float32, second: Float32) -> Float32:
    """Features [n, 2d] of pairs with vectors u and v, [n, d]: |u − v| and u · v by element."""
    return np.concatenate([np.abs(first - second), first * second], axis=1)


def toolkit_order(rows: pl.DataFrame, gold: npt.NDArray[Any]) -> Int64:
    """Rows in the order of SentEval's toolkit, from which its folds and batches are drawn.

    That is by the number of words of `sentence1` and of `sentence2`, and then by the gold.
    """
    sizes = [[len((text or "").split()) for text in rows[name]] for name in ("sentence1", "sentence2")]
    keys = list(zip(*sizes, gold, strict=True))
    return np.array(sorted(range(len(rows)), key=keys.__getitem__))


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long a network is trained.

    Attributes:
        batch_size: rows a step.
        epochs: from one look at the development data to the next.
        max_epochs: no further look is begun after them.
        patience: looks that may bring nothing new, in all; one more ends the training.
    """

    batch_size: int
    epochs: int
    max_epochs: int
    patience: int


RELATEDNESS = Schedule(batch_size=64, epochs=50, max_epochs=1000, patience=3)
# Of polish-sentence-evaluation, the toolkit of Dadas 2022.
PERCEPTRON = Schedule(batch_size=128, epochs=10, max_epochs=200, patience=3)


def predict_scores(train: Scores, dev: Scores, test: Float32, *, at: str) -> tuple[Float64, float]:
    """Predict relatedness by a softmax over five scores (Tai et al. 2015), as SentEval does.

    The network gives each score from 1 to 5 a probability, and is trained with Adam towards the two
    probabilities whose expectation is the gold score, by squared error. Prediction is the expectation.

    Args:
        train: features [n, d] and gold scores, 0 to 5. A score below 1 has no such probabilities: like
            SentEval's, its target is that share of the score 1, and nothing else.
        dev: the same of the development data, which say when to stop, by Pearson's r.
        test: features.
        at: the data, for errors.

    Returns:
        Scores of `test`, and Pearson's r on the development data.
    """
    targets = torch.from_numpy(_spread(train[1]))
    scores = np.arange(1, CLASSES + 1, dtype=np.float64)
    with _reproducible():
        network = nn.Sequential(nn.Linear(train[0].shape[1], CLASSES), nn.Softmax(dim=1))
        optimizer = torch.optim.Adam(network.parameters())

        def score() -> float:
            return pearson(_outputs(network, dev[0]) @ scores, dev[1], name=f"{at}: development data")

        reached = _train(network, optimizer, nn.MSELoss(), score, train[0], targets, RELATEDNESS)
        return _outputs(network, test) @ scores, reached


def predict_classes(train: Classes, dev: Classes, test: Float32, *, penalty: float) -> tuple[Int64, float]:
    """Predict classes by a network with one hidden layer of sigmoids, trained with RMSprop.

    Args:
        train: features [n, d] and classes, 0 to c - 1, each at least once.
        dev: the same of the development data, which say when to stop, by accuracy.
        test: features.
        penalty: λ of the decay λθ of all parameters θ.

    Returns:
        Classes of `test`, and the accuracy on the development data.
    """
    targets = torch.from_numpy(train[1])
    with _reproducible():
        network = nn.Sequential(
            nn.Linear(train[0].shape[1], HIDDEN), nn.Sigmoid(), nn.Linear(HIDDEN, int(train[1].max()) + 1)
        )
        optimizer = torch.optim.RMSprop(network.parameters(), weight_decay=penalty)

        def score() -> float:
            return float((_outputs(network, dev[0]).argmax(1) == dev[1]).mean())

        reached = _train(network, optimizer, nn.CrossEntropyLoss(), score, train[0], targets, PERCEPTRON)
        return _outputs(network, test).argmax(1), reached


def _train(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: nn.Module,
    score: Callable[[], float],
    features: Float32,
    targets: torch.Tensor,
    schedule: Schedule,
) -> float:
    """Train a network and leave it as it was when its score was highest; that score."""
    rows = torch.from_numpy(features)
    orders = np.random.RandomState(SEED)
    best, kept = -np.inf, network.state_dict()
    epoch = fruitless = 0
    while epoch <= schedule.max_epochs and fruitless <= schedule.patience:
        for _ in range(schedule.epochs):
            order = torch.from_numpy(orders.permutation(len(rows)))
            for batch in order.split(schedule.batch_size):
                optimizer.zero_grad()
                loss(network(rows[batch]), targets[batch]).backward()
                optimizer.step()
        epoch += schedule.epochs
        reached = score()
        if reached > best:
            best, kept = reached, copy.deepcopy(network.state_dict())
        else:
            fruitless += 1
    network.load_state_dict(kept)
    return float(best)


@contextmanager
def _reproducible() -> Iterator[None]:
    """A seed of its own, and one thread, so that digits do not depend on their number; more gain nothing."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            yield
    finally:
        torch.set_num_threads(threads)


def _outputs(network: nn.Module, features: Float32) -> Float64:
    with torch.no_grad():
        outputs: torch.Tensor = network(torch.from_numpy(features))
    return outputs.double().numpy()


def _spread(scores: Float64) -> Float32:
    """Probabilities of the scores 1 to 5, [n, 5]."""
    distances = np.abs(scores[:, None] - np.arange(1, CLASSES + 1))
    return np.maximum(1 - distances, 0).astype(np.float32)
