"""Engines on different devices, and random mega-batches to train them on."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from test_engine import ROWS

from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.device.engine import DeviceEngine
from paraphrastic_pipeline.training.encoder_modules import AveragedEmbeddings
from paraphrastic_pipeline.training.fused import FusedEngine
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.threads import Workers

STEPS = 40_000
BATCH = 6


def initial_table(settings: TrainingSettings) -> torch.Tensor:
    table = AveragedEmbeddings(ROWS, settings.dimension, init_std=1.0, seed=1).table.detach().clone()
    table[ROWS - 1] = 0.0
    return table


def on_device(settings: TrainingSettings, device: torch.device, *, steps: int = STEPS) -> DeviceEngine:
    settings = replace(settings, batch_size=BATCH)
    return DeviceEngine(initial_table(settings), settings, device, steps=steps)


def fused(settings: TrainingSettings, *, steps: int = STEPS) -> FusedEngine:
    return FusedEngine(initial_table(settings), settings, Workers(1), steps=steps)


def random_megabatches(
    n: int, *, batches: int = 4, seed: int = 0
) -> Iterator[tuple[Sentences, np.ndarray, np.ndarray]]:
    """Yield mega-batches with negatives; the last mini-batch of each is short.

    They contain the difficult cases: empty sentences, zero vectors, repeated and very frequent tokens, a
    sentence that is its own translation, and missing negatives.
    """
    generator = np.random.default_rng(seed)
    pairs = batches * BATCH - 2
    for _ in range(n):
        lengths = generator.integers(1, 9, 2 * pairs)
        lengths[3] = 0
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        tokens = np.minimum(generator.geometric(0.1, offsets[-1]) - 1, ROWS - 2).astype(np.int32)
        tokens[generator.random(len(tokens)) < 0.3] = 0
        tokens[offsets[1] : offsets[2]] = ROWS - 1
        tokens[offsets[2] : offsets[3]] = tokens[offsets[2]]
        sentences = Sentences(tokens, offsets)
        order = np.arange(2 * pairs)
        order[5 + pairs] = 5
        yield (
            sentences.take(order),
            generator.integers(0, 2 * pairs, 2 * pairs),
            generator.random(2 * pairs) > 0.2,
        )


def train_on(engine: DeviceEngine, megabatch: tuple[Sentences, np.ndarray, np.ndarray]) -> list[float]:
    """Train on one mega-batch with the given negatives and return its losses."""
    sentences, negatives, valid = megabatch
    moved = engine._moved(sentences)
    engine._embed(*moved)
    given = (torch.from_numpy(array).to(engine.device) for array in (negatives, valid))
    return engine.train_with(*moved, *given)


def step_through(
    engine: FusedEngine | AutogradEngine, megabatch: tuple[Sentences, np.ndarray, np.ndarray]
) -> list[float]:
    """Train on the same mega-batch one mini-batch at a time and return the losses."""
    sentences, negatives, valid = megabatch
    n = len(sentences) // 2
    engine.embed(sentences)
    losses = []
    for start in range(0, n, BATCH):
        own = np.arange(start, min(n, start + BATCH))
        own = np.concatenate([own, own + n])
        chosen = np.concatenate([own, negatives[own]])
        losses.append(engine.step(sentences, chosen, valid[own].reshape(2, -1)))
    return losses
