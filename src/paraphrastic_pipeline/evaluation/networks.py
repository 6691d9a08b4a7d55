"""Small networks on fixed vectors, trained as in SentEval, with early stopping on the development data."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import nn
from torch.utils.data import TensorDataset

from paraphrastic.base.arrays import Float32, Float64, Int64
from paraphrastic.quality.correlation import pearson

# Features of rows, [n, d], and the scores or classes to predict from them, [n].
Labelled = tuple[Float32, Float64]
Classes = tuple[Float32, Int64]

# SentEval's seed: for folds, for the initial weights of networks, and for the order of batches.
SEED = 1111
HIDDEN = 50
# A relatedness score is predicted as a distribution over the scores 1 to 5.
CLASSES = 5


def pair_features(first: Float32, second: Float32) -> Float32:
    """Features [n, 2d] of pairs with vectors u and v, [n, d]: |u − v| and the elementwise product u · v."""
    return np.concatenate([np.abs(first - second), first * second], axis=1)


def toolkit_order(rows: pd.DataFrame, gold: npt.NDArray[Any]) -> Int64:
    """Indices of the rows in SentEval's order, which decides its folds and batches.

    SentEval sorts by the number of words in `sentence1`, then in `sentence2`, and then by the gold.
    """
    first, second = (
        column.fillna("").map(lambda text: len(text.split())) for column in (rows.sentence1, rows.sentence2)
    )
    return np.lexsort((gold, second.to_numpy(), first.to_numpy()))


class Schedule(NamedTuple):
    """How long a network is trained.

    Attributes:
        batch_size: rows per step.
        epochs: epochs between two scores on the development data.
        max_epochs: training ends at the first score after more epochs than this.
        patience: scores in total, not in a row, that may fail to be a new best; one more ends training.
    """

    batch_size: int
    epochs: int
    max_epochs: int
    patience: int


RELATEDNESS = Schedule(batch_size=64, epochs=50, max_epochs=1000, patience=3)
# The schedule of polish-sentence-evaluation, the toolkit of Dadas 2022.
PERCEPTRON = Schedule(batch_size=128, epochs=10, max_epochs=200, patience=3)


def predict_scores(train: Labelled, dev: Labelled, test: Float32, *, at: str) -> tuple[Float64, float]:
    """Predict relatedness with a softmax over five scores (Tai et al. 2015), as SentEval does.

    The network gives each score from 1 to 5 a probability and predicts their expectation. Adam minimises the
    squared error to the two probabilities, of adjacent scores, whose expectation is the gold score.

    Features are [n, d] and gold scores from 0 to 5. A gold score below 1 is no such expectation; as in
    SentEval, its target gives the score 1 a weight equal to the gold score, and the others 0. Pearson's r on
    `dev` decides when to stop.

    Returns:
        Predicted scores of `test`, and Pearson's r on the development data, which `at` names in errors.
    """
    scores = np.arange(1, CLASSES + 1, dtype=np.float64)

    def score(network: nn.Module) -> float:
        return pearson(_outputs(network, dev[0]) @ scores, dev[1], name=f"{at}: development data")

    with _reproducible():
        network = nn.Sequential(nn.Linear(train[0].shape[1], CLASSES), nn.Softmax(dim=1))
        optimizer = torch.optim.Adam(network.parameters())
        data = TensorDataset(torch.from_numpy(train[0]), torch.from_numpy(_spread(train[1])))
        reached = _train(network, optimizer, nn.MSELoss(), score, data, RELATEDNESS)
        return _outputs(network, test) @ scores, reached


def predict_classes(train: Classes, dev: Classes, test: Float32, *, penalty: float) -> tuple[Int64, float]:
    """Predict classes with a network that has one hidden layer of sigmoids, trained with RMSprop.

    Features are [n, d], and classes 0 to c - 1. The accuracy on `dev` decides when to stop. The weight decay
    adds `penalty` times θ to the gradient of every parameter θ.

    Returns:
        Predicted classes of `test`, and the accuracy on the development data.
    """

    def score(network: nn.Module) -> float:
        return float((_outputs(network, dev[0]).argmax(1) == dev[1]).mean())

    with _reproducible():
        network = nn.Sequential(
            nn.Linear(train[0].shape[1], HIDDEN), nn.Sigmoid(), nn.Linear(HIDDEN, int(train[1].max()) + 1)
        )
        optimizer = torch.optim.RMSprop(network.parameters(), weight_decay=penalty)
        data = TensorDataset(*map(torch.from_numpy, train))
        reached = _train(network, optimizer, nn.CrossEntropyLoss(), score, data, PERCEPTRON)
        return _outputs(network, test).argmax(1), reached


def _train(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: nn.Module,
    score: Callable[[nn.Module], float],
    data: TensorDataset,
    schedule: Schedule,
) -> float:
    """Train a network, restore the weights with the highest score, and return that score."""
    orders = np.random.RandomState(SEED)
    best, kept = -np.inf, network.state_dict()
    epoch = fruitless = 0
    while epoch <= schedule.max_epochs and fruitless <= schedule.patience:
        for _ in range(schedule.epochs):
            order = torch.from_numpy(orders.permutation(len(data)))
            for batch in order.split(schedule.batch_size):
                features, targets = data[batch]
                optimizer.zero_grad()
                loss(network(features), targets).backward()
                optimizer.step()
        epoch += schedule.epochs
        reached = score(network)
        if reached > best:
            best, kept = reached, copy.deepcopy(network.state_dict())
        else:
            fruitless += 1
    network.load_state_dict(kept)
    return float(best)


@contextmanager
def _reproducible() -> Iterator[None]:
    """Seed torch, and use one thread: more gain nothing, and results must not depend on their number."""
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
    """Target probabilities of the scores 1 to 5, [n, 5]."""
    distances = np.abs(scores[:, None] - np.arange(1, CLASSES + 1))
    return np.maximum(1 - distances, 0).astype(np.float32)
