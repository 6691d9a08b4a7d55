"""Small networks on fixed vectors, trained as in SentEval, with early stopping on the development data."""

from collections.abc import Callable
from functools import partial
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
    """How long a network is trained, with `batch_size` rows per step.

    It is scored on the development data every `epochs` epochs. Training ends at the first score after
    `max_epochs`, or if more than `patience` scores in total were no new best.
    """

    batch_size: int
    epochs: int
    max_epochs: int
    patience: int


RELATEDNESS = Schedule(batch_size=64, epochs=50, max_epochs=1000, patience=3)
# The schedule of polish-sentence-evaluation, the toolkit of Dadas 2022.
PERCEPTRON = Schedule(batch_size=128, epochs=10, max_epochs=200, patience=3)


def predict_scores(train: Labelled, dev: Labelled, test: Float32, *, at: str) -> Float64:
    """Predict relatedness with a softmax over five scores (Tai et al. 2015), as SentEval does.

    The network gives each score from 1 to 5 a probability and predicts their expectation. Adam minimises the
    squared error to the two probabilities, of adjacent scores, whose expectation is the gold score.

    Features are [n, d] and gold scores from 0 to 5. A gold score below 1 is no such expectation; as in
    SentEval, its target gives the score 1 a weight equal to the gold score, and the others 0. Pearson's r on
    `dev` decides when to stop; `at` names these data in errors.

    Returns:
        Predicted scores of `test`, [n].
    """
    scores = np.arange(1, CLASSES + 1, dtype=np.float64)
    outputs, _ = _fitted(
        lambda size: nn.Sequential(nn.Linear(size, CLASSES), nn.Softmax(dim=1)),
        torch.optim.Adam,
        nn.MSELoss(),
        (train[0], _spread(train[1])),
        RELATEDNESS,
        lambda of_dev: pearson(of_dev @ scores, dev[1], name=f"{at}: development data"),
        (dev[0], test),
    )
    return outputs @ scores


def predict_classes(train: Classes, dev: Classes, test: Float32, *, penalty: float) -> tuple[Int64, float]:
    """Predict classes with a network that has one hidden layer of sigmoids, trained with RMSprop.

    Features are [n, d], and classes 0 to c - 1. The accuracy on `dev` decides when to stop. The weight decay
    adds `penalty` times θ to the gradient of every parameter θ.

    Returns:
        Predicted classes of `test`, and the accuracy on the development data.
    """
    classes = int(train[1].max()) + 1
    outputs, reached = _fitted(
        lambda size: nn.Sequential(nn.Linear(size, HIDDEN), nn.Sigmoid(), nn.Linear(HIDDEN, classes)),
        partial(torch.optim.RMSprop, weight_decay=penalty),
        nn.CrossEntropyLoss(),
        train,
        PERCEPTRON,
        lambda of_dev: float((of_dev.argmax(1) == dev[1]).mean()),
        (dev[0], test),
    )
    return outputs.argmax(1), reached


def _fitted(
    build: Callable[[int], nn.Module],
    optimizer_of: Callable[[Any], torch.optim.Optimizer],
    loss: nn.Module,
    train: tuple[Float32, npt.NDArray[Any]],
    schedule: Schedule,
    score: Callable[[Float64], float],
    features: tuple[Float32, Float32],
) -> tuple[Float64, float]:
    """Outputs for test data of the network whose outputs for development data have the best score, and that.

    The results do not depend on what was drawn before, or on the number of threads; more than one gain
    nothing.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    dev, test = map(torch.from_numpy, features)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            network = build(train[0].shape[1])
            optimizer = optimizer_of(network.parameters())
            orders, data = np.random.RandomState(SEED), TensorDataset(*map(torch.from_numpy, train))
            best, outputs = -np.inf, np.empty(0)
            epoch = fruitless = 0
            while epoch <= schedule.max_epochs and fruitless <= schedule.patience:
                for _ in range(schedule.epochs):
                    for batch in torch.from_numpy(orders.permutation(len(data))).split(schedule.batch_size):
                        rows, targets = data[batch]
                        optimizer.zero_grad()
                        loss(network(rows), targets).backward()
                        optimizer.step()
                epoch += schedule.epochs
                with torch.no_grad():
                    reached = score(network(dev).double().numpy())
                    if reached > best:
                        best, outputs = reached, network(test).double().numpy()
                    else:
                        fruitless += 1
    finally:
        torch.set_num_threads(threads)
    return outputs, float(best)


def _spread(scores: Float64) -> Float32:
    """Target probabilities of the scores 1 to 5, [n, 5]."""
    distances = np.abs(scores[:, None] - np.arange(1, CLASSES + 1))
    return np.maximum(1 - distances, 0).astype(np.float32)
