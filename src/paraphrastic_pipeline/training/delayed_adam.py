"""Adam that leaves a row of the table alone until it is needed, as machine code.

Dense Adam also moves a row, by its momentum, in steps whose mini-batch does not touch it. Here such a row is
left alone until it is needed, and then catches up with all the steps that it missed. Let m and v be its
moments at step l, the last one that it is up to date with. With gradients of zero, step j after l moves it by

    −n_j · m / (d_j · √v + ε),  n_j = lr_(l+j) · β₁^j / (1 − β₁^(l+j)),  d_j = √(β₂^j / (1 − β₂^(l+j))).

The d_j hardly change before the n_j die out. Let d̄ be the n-weighted mean of the d_j, s² their variance, and
N = Σ n_j. Expanded around d̄, the sum over k steps is

    −N · m · r · (1 + s² v r²),  r = 1 / (d̄ √v + ε).

If s² is not small compared with d̄², as in the first steps of a run, the sum is computed exactly, term by
term. Decoupled weight decay λ multiplies a row by c_j = 1 − lr_(l+j) · λ before each movement. This gives n_j
the factor c_(j+1) · … · c_k, and the row the factor c_1 · … · c_k.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj

from paraphrastic.base.arrays import Float32, Float64, Int32, Int64
from paraphrastic.base.jit import jit
from paraphrastic_pipeline.training.sparse_rows import Missed, Parameters, Step

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
# 0.9^400 is 5e-19: later steps have no effect in single precision.
HORIZON = 400
# The expansion leaves out terms of the order of (s/d̄)³.
MAX_RELATIVE_VARIANCE = 1e-3
# After this many steps, 1 − β₂^t is 1 in single precision.
BIASED_STEPS = 20_000
# Entries per cache line, and how many rows ahead of the current one are prefetched.
LINE, AHEAD = 16, 1

_COUNT = np.arange(BIASED_STEPS + HORIZON + 2)
with np.errstate(divide="ignore"):
    BIAS1 = 1 / (1 - BETA1**_COUNT)
    BIAS2 = 1 / np.sqrt(1 - BETA2**_COUNT)
POWERS1 = BETA1 ** _COUNT[: HORIZON + 1]
POWERS2 = BETA2 ** (_COUNT[: HORIZON + 1] / 2)


@jit
def rate(step: Step, number: int) -> float:
    """The learning rate of step `number`, counted from 1."""
    if step.steps:
        return step.learning_rate * (1.0 - (number - 1) / step.steps)
    return step.learning_rate


@jit
def weights(last: int, k: int, step: Step, n: Float64, d: Float64) -> tuple[int, float]:
    """Write n_j and d_j of the first of k steps after `last`; return how many, and the row's factor."""
    terms = min(k, HORIZON)
    start = min(last, BIASED_STEPS)
    for j in range(1, terms + 1):
        n[j - 1] = rate(step, last + j) * POWERS1[j] * BIAS1[start + j]
        d[j - 1] = POWERS2[j] * BIAS2[start + j]
    factor = 1.0
    if step.weight_decay:
        for j in range(k, 0, -1):
            if j <= terms:
                n[j - 1] *= factor
            factor *= 1.0 - rate(step, last + j) * step.weight_decay
    return terms, factor


@jit
def missed_steps(last: Int64, step: Step) -> Missed:
    """The steps that rows have missed before `step`, if row i is up to date with step `last[i]`."""
    size = len(last)
    steps, figures = np.empty(size, np.int64), np.empty((6, size), np.float32)
    n, d = np.empty(HORIZON), np.empty(HORIZON)
    # Many rows share few numbers of missed steps, so each number is computed once.
    seen = np.full(HORIZON, -1, np.int64)
    for i in range(size):
        k = step.number - 1 - last[i]
        steps[i] = k
        if k < HORIZON and seen[k] >= 0:
            figures[:, i] = figures[:, seen[k]]
            continue
        total = mean = variance = 0.0
        decay = 1.0
        # A row that no step has touched has no momentum.
        if k > 0 and (last[i] > 0 or step.weight_decay > 0):
            terms, decay = weights(last[i], k, step, n, d)
            for j in range(terms):
                total += n[j]
                mean += n[j] * d[j]
            mean /= total
            for j in range(terms):
                variance += n[j] * (d[j] - mean) ** 2
            variance /= total
        figures[0, i] = total
        figures[1, i] = mean
        figures[2, i] = variance if variance <= MAX_RELATIVE_VARIANCE * mean * mean else -1.0
        figures[3, i] = decay
        figures[4, i] = POWERS1[k] if k <= HORIZON else 0.0
        figures[5, i] = BETA2**k
        if k < HORIZON:
            seen[k] = i
    return Missed(steps, figures[0], figures[1], figures[2], figures[3], figures[4], figures[5])


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Fetch the cache line that holds `array[index]` before it is needed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = arrayobj.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(start, [arguments[1]]), byte)
        number = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        )
        # The arguments mean: for writing, keep in all caches, data (not instructions).
        builder.call(function, [address, number(1), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


@jit
def fetch(parameters: Parameters, start: int, size: int) -> None:
    """Prefetch `size` entries of the table and of both moments, which are far apart in memory."""
    table, first, second = parameters
    for i in range(start, start + size, LINE):
        prefetch(table, i)  # type: ignore[call-arg]
        prefetch(first, i)
        prefetch(second, i)


@jit
def catch_up(
    parameters: Parameters, start: int, size: int, last: int, missed: Missed, i: int, step: Step,
    sums: Float32,
) -> None:  # fmt: skip
    """Apply the missed steps in entry i of `missed` to `size` entries of the table, but not to the moments.

    The entries are up to date with step `last`. `sums` is scratch space for `size` numbers.
    """
    table, first, second = parameters
    at, epsilon, one = np.uintp(start), np.float32(EPSILON), np.float32(1.0)
    movement, mean, variance = missed.movement[i], missed.mean[i], missed.variance[i]
    decay = missed.decay[i]
    if variance >= 0.0:
        for d in range(np.uintp(size)):
            v = second[at + d]
            r = one / (mean * np.sqrt(v) + epsilon)
            moved = movement * first[at + d] * r * (one + variance * v * r * r)
            table[at + d] = decay * table[at + d] - moved
        return
    n, scales = np.empty(HORIZON), np.empty(HORIZON)
    sums[:size] = 0.0
    terms, _ = weights(last, missed.steps[i], step, n, scales)
    for j in range(terms):
        weight, scale = np.float32(n[j]), np.float32(scales[j])
        for d in range(np.uintp(size)):
            sums[d] += weight / (scale * np.sqrt(second[at + d]) + epsilon)
    for d in range(np.uintp(size)):
        table[at + d] = decay * table[at + d] - sums[d] * first[at + d]


@jit
def settle(
    parameters: Parameters, width: int, rows: Int32, last: Int64, missed: Missed, step: Step, begin: int,
    end: int,
) -> None:  # fmt: skip
    """Bring the table and the moments of `rows[begin:end]` up to date before `step`."""
    _, first, second = parameters
    sums = np.empty(width, np.float32)
    for i in range(begin, end):
        if i + AHEAD < end:
            fetch(parameters, int(rows[i + AHEAD]) * width, width)
        if missed.steps[i]:
            start = int(rows[i]) * width
            catch_up(parameters, start, width, last[rows[i]], missed, i, step, sums)
            at = np.uintp(start)
            for d in range(np.uintp(width)):
                first[at + d] *= missed.decay1[i]
                second[at + d] *= missed.decay2[i]
