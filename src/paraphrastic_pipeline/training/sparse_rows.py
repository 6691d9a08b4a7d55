"""The data that the kernels work on: parameters, a step, and the table rows that a mini-batch touches."""

from typing import NamedTuple

import numpy as np

from paraphrastic.base.arrays import Float32, Int32, Int64
from paraphrastic.base.jit import jit


class Parameters(NamedTuple):
    """The table and its moments, each flat float32 [rows · width]."""

    table: Float32
    first: Float32
    second: Float32


class Step(NamedTuple):
    """Everything that a step of the optimizer depends on, except the gradient."""

    number: int
    """The number of the step, counted from 1."""
    learning_rate: float
    """The rate of the first step."""
    steps: int
    """The number of steps over which the learning rate falls to zero; 0 if it does not fall."""
    weight_decay: float
    seed: int
    """The seed of dropout."""
    dropped: int
    """Dropout leaves out this many of 65,536 entries."""


class Missed(NamedTuple):
    """The steps that rows have missed, in arrays with one entry per row; see `training.delayed_adam`."""

    steps: Int64
    """The number k of steps."""
    movement: Float32
    """N, the sum of the n_j."""
    mean: Float32
    """d̄, the weighted mean of the d_j."""
    variance: Float32
    """s², the variance of the d_j, or a negative number if the sum must be computed term by term."""
    decay: Float32
    """c_1 · … · c_k, the factor of the row."""
    decay1: Float32
    """β₁^k, the factor of m."""
    decay2: Float32
    """β₂^k, the factor of v."""


class MiniBatch(NamedTuple):
    """The sentences of a mini-batch: s of all pairs, then t, t′ and s′."""

    rows: Int32
    """The distinct rows of the table."""
    tokens: Int64
    """The place of each token's row in the flat table, for all sentences."""
    offsets: Int64
    """Sentence i is `tokens[offsets[i]:offsets[i + 1]]`."""
    starts: Int64
    """The occurrences of `rows[i]` are `order[starts[i]:starts[i + 1]]`."""
    order: Int32
    """Places in `tokens`."""
    sentences: Int32
    """For each occurrence, in the same order, its sentence."""


@jit
def gather(tokens: Int32, offsets: Int64, chosen: Int64, slots: Int32, width: int) -> MiniBatch:
    """Gather the sentences `chosen`, and sort their tokens by row.

    `slots` is scratch space with an entry for each row of the table; all entries are -1 before and after.
    """
    starts = np.zeros(len(chosen) + 1, np.int64)
    for i in range(len(chosen)):
        starts[i + 1] = starts[i] + offsets[chosen[i] + 1] - offsets[chosen[i]]
    size = starts[-1]
    places = np.empty(size, np.int64)
    slot = np.empty(size, np.int32)
    rows = np.empty(min(size, len(slots)), np.int32)
    counts = np.zeros(len(rows) + 1, np.int64)
    n = place = 0
    for i in chosen:
        for token in range(offsets[i], offsets[i + 1]):
            row = tokens[token]
            if slots[row] < 0:
                slots[row] = n
                rows[n] = row
                n += 1
            slot[place] = slots[row]
            counts[slots[row] + 1] += 1
            places[place] = np.int64(row) * width
            place += 1
    for i in range(n):
        slots[rows[i]] = -1
        counts[i + 1] += counts[i]
    cursor = counts[:n].copy()
    order = np.empty(size, np.int32)
    sentences = np.empty(size, np.int32)
    for i in range(len(chosen)):
        for place in range(starts[i], starts[i + 1]):
            at = cursor[slot[place]]
            cursor[slot[place]] = at + 1
            order[at] = place
            sentences[at] = i
    return MiniBatch(rows[:n], places, starts, counts[: n + 1], order, sentences)
