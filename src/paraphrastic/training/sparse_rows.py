"""What the kernels are given: parameters, the step, and which rows of the table a mini-batch touches."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraphrastic.base.jit import jit

Float32 = npt.NDArray[np.float32]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


class Parameters(NamedTuple):
    """The table and its moments, each flat float32 [rows · width]."""

    table: Float32
    first: Float32
    second: Float32


class Step(NamedTuple):
    """What a step of the optimizer depends on beside the gradient."""

    number: int
    """Of the step, from 1."""
    learning_rate: float
    """Of the first step."""
    steps: int
    """Over which the learning rate falls to zero; 0 where it stays."""
    weight_decay: float
    seed: int
    """Of dropout."""
    dropped: int
    """Entries that dropout leaves out, of 65,536."""


class Missed(NamedTuple):
    """What rows have missed, each an array with an entry a row."""

    steps: npt.NDArray[np.int64]
    """Number k of the steps."""
    movement: Float32
    """N."""
    mean: Float32
    """d̄."""
    variance: Float32
    """s²; negative where the sum is to be taken as it stands."""
    decay: Float32
    """c_1 · … · c_k, of the row."""
    decay1: Float32
    """β₁^k, of m."""
    decay2: Float32
    """β₂^k, of v."""


def nothing_missed(n: int) -> Missed:
    """For n rows that are up to date."""
    zeros, ones = np.zeros(n, np.float32), np.ones(n, np.float32)
    return Missed(np.zeros(n, np.int64), zeros, zeros, zeros, ones, ones, ones)


class Plan(NamedTuple):
    """The sentences of a mini-batch: s of all pairs, then t, t′ and s′."""

    rows: Int32
    """The distinct rows of the table."""
    tokens: Int64
    """Of all sentences, the place of each token's row in the flat table."""
    offsets: Int64
    """Sentence i is `tokens[offsets[i]:offsets[i + 1]]`."""
    starts: Int64
    """Occurrences of `rows[i]` are `starts[i]` to `starts[i + 1]` of `order`."""
    order: Int32
    """Places in `tokens`."""
    sentences: Int32
    """For each occurrence, in the same order, its sentence."""


@jit
def distinct_rows(tokens: Int32, slots: Int32) -> Int32:
    """The rows in `tokens` by first appearance; `slots` is -1 for all rows, before and after."""
    rows = np.empty(min(len(tokens), len(slots)), np.int32)
    size = 0
    for row in tokens:
        if slots[row] < 0:
            slots[row] = size
            rows[size] = row
            size += 1
    for i in range(size):
        slots[rows[i]] = -1
    return rows[:size]


@jit
def plan_step(tokens: Int32, offsets: Int64, chosen: Int64, slots: Int32, width: int) -> Plan:
    """Gather the sentences `chosen`, and sort their tokens by row."""
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
    return Plan(rows[:n], places, starts, counts[: n + 1], order, sentences)
