"""The computations of a training step on averaged embeddings, as machine code.

A table is a flat float32 array [rows · width]. Its columns are divided into blocks that do not depend on the
number of threads. A thread takes whole blocks, and a sum over all columns adds the blocks' sums in order, so
every number of threads gives the same digits.
"""

import numpy as np

from paraphrastic.base.arrays import Float32, Float64, Int32, Int64
from paraphrastic.base.jit import jit, jit_sum
from paraphrastic_pipeline.training.delayed_adam import AHEAD, BETA1, BETA2, EPSILON, catch_up, fetch, rate
from paraphrastic_pipeline.training.sparse_rows import MiniBatch, Missed, Parameters, Step

# As in torch's normalize.
NORM_EPSILON = 1e-12
# Dot products of a pair: s·t, s·t′, t·s′ and the squares of s, t, t′, s′.
PRODUCTS = 7


@jit
def add_dropped(
    sums: Float32, values: Float32, start: int, size: int, token: int, column: int, step: Step
) -> None:
    """Add `size` entries, an even number, to `sums`, except those that dropout leaves out.

    The choice depends only on the seed, the number of the token and the column: the random bits are a hash of
    these, made with the rounds of MurmurHash3's finaliser.
    """
    at, half = np.uintp(start), np.uintp(size // 2)
    limit, zero = np.uint32(step.dropped), np.float32(0.0)
    base = np.uint32(step.seed + token * 0x9E3779B1)
    base = np.uint32((base ^ (base >> 15)) * 0x85EBCA77)
    for i in range(half):
        # Cast to 32 bits each time, because the compiler widens every result to 64.
        bits = np.uint32(base + np.uint32(np.uint32(column + i) * np.uint32(0xC2B2AE3D)))
        bits = np.uint32((bits ^ np.uint32(bits >> np.uint32(16))) * np.uint32(0x85EBCA6B))
        bits = np.uint32((bits ^ np.uint32(bits >> np.uint32(13))) * np.uint32(0xC2B2AE35))
        bits = np.uint32(bits ^ np.uint32(bits >> np.uint32(16)))
        sums[i] += values[at + i] if np.uint32(bits & np.uint32(0xFFFF)) >= limit else zero
        sums[i + half] += values[at + i + half] if np.uint32(bits >> np.uint32(16)) >= limit else zero


@jit
def add_rows(
    sums: Float32, values: Float32, places: Int64, begin: int, end: int, shift: int, size: int
) -> None:
    """Add to `sums` the `size` entries of `values` that begin at each of `places[begin:end]` + shift."""
    place = begin
    # Four at a time, so that the sums are read and written once for four rows.
    while place + 4 <= end:
        a, b = np.uintp(places[place] + shift), np.uintp(places[place + 1] + shift)
        c, d = np.uintp(places[place + 2] + shift), np.uintp(places[place + 3] + shift)
        for i in range(np.uintp(size)):
            sums[i] += (values[a + i] + values[b + i]) + (values[c + i] + values[d + i])
        place += 4
    while place < end:
        a = np.uintp(places[place] + shift)
        for i in range(np.uintp(size)):
            sums[i] += values[a + i]
        place += 1


@jit_sum
def square_of(vectors: Float32, i: int, begin: int, end: int) -> np.float32:
    """Squared length of the columns `begin` to `end` of vector i."""
    square = np.float32(0.0)
    for d in range(begin, end):
        square += vectors[i, d] * vectors[i, d]
    return square


@jit_sum
def multiply(vectors: Float32, block: int, size: int, n: int, i: int, products: Float64) -> None:
    """Write the dot products of pair i over a block of columns."""
    st = st_ = ts_ = ss = tt = t_t_ = s_s_ = np.float32(0.0)
    for d in range(size):
        s, t = vectors[block, i, d], vectors[block, n + i, d]
        t_, s_ = vectors[block, 2 * n + i, d], vectors[block, 3 * n + i, d]
        st += s * t
        st_ += s * t_
        ts_ += t * s_
        ss += s * s
        tt += t * t
        t_t_ += t_ * t_
        s_s_ += s_ * s_
    here = products[block, i]
    here[0], here[1], here[2], here[3], here[4], here[5], here[6] = st, st_, ts_, ss, tt, t_t_, s_s_


@jit
def average(
    table: Float32, width: int, edges: Int64, tokens: Int32, offsets: Int64, vectors: Float32,
    squares: Float32, first_block: int, end_block: int,
) -> None:  # fmt: skip
    """Average the rows of each sentence, and compute the squared lengths of the averages by block.

    Sentence i is `tokens[offsets[i]:offsets[i + 1]]`; `edges` are the columns at which blocks begin, and the
    width. Output: `vectors`, float32 [n, width], and `squares`, float32 [blocks, n].
    """
    places = np.empty(len(tokens), np.int64)
    for i in range(len(tokens)):
        places[i] = np.int64(tokens[i]) * width
    sums = np.empty(width, np.float32)
    for block in range(first_block, end_block):
        shift, size = edges[block], edges[block + 1] - edges[block]
        for i in range(len(offsets) - 1):
            sums[:size] = 0.0
            add_rows(sums, table, places, offsets[i], offsets[i + 1], shift, size)
            scale = np.float32(1.0) / np.float32(max(1, offsets[i + 1] - offsets[i]))
            for d in range(size):
                vectors[i, shift + d] = sums[d] * scale
            squares[block, i] = square_of(vectors, i, shift, shift + size)


@jit
def normalize(vectors: Float32, squares: Float32, begin: int, end: int) -> None:
    """Scale rows `begin` to `end` to unit length; a zero vector stays zero."""
    for i in range(begin, end):
        square = np.float32(0.0)
        for block in range(len(squares)):
            square += squares[block, i]
        scale = np.float32(1.0) / np.float32(max(np.sqrt(square), np.float32(NORM_EPSILON)))
        for d in range(vectors.shape[1]):
            vectors[i, d] *= scale


@jit
def forward(
    parameters: Parameters, width: int, edges: Int64, batch: MiniBatch, last: Int64, missed: Missed,
    step: Step, vectors: Float32, products: Float64, first_block: int, end_block: int,
) -> None:  # fmt: skip
    """Bring a mini-batch's rows up to date, average them by sentence, and compute the dot products.

    `backward` brings the moments up to date. Output: `vectors`, float32 [blocks, 4n, largest block], and
    `products`, float64 [blocks, n, PRODUCTS].
    """
    n = len(batch.offsets) // 4
    keep = np.float32(65536.0 / (65536.0 - step.dropped))
    sums = np.empty(width, np.float32)
    for block in range(first_block, end_block):
        shift, size = edges[block], edges[block + 1] - edges[block]
        for i in range(len(batch.rows)):
            if i + AHEAD < len(batch.rows):
                fetch(parameters, np.int64(batch.rows[i + AHEAD]) * width + shift, size)
            if missed.steps[i]:
                start = np.int64(batch.rows[i]) * width + shift
                catch_up(parameters, start, size, last[batch.rows[i]], missed, i, step, sums)
        for i in range(4 * n):
            begin, end = batch.offsets[i], batch.offsets[i + 1]
            sums[:size] = 0.0
            if step.dropped:
                for place in range(begin, end):
                    add_dropped(sums, parameters.table, batch.tokens[place] + shift, size, place, shift, step)
            else:
                add_rows(sums, parameters.table, batch.tokens, begin, end, shift, size)
            scale = keep / np.float32(max(1, end - begin))
            for d in range(size):
                vectors[block, i, d] = sums[d] * scale
        for i in range(n):
            multiply(vectors, block, size, n, i, products)


@jit
def sentence_gradients(
    vectors: Float32, block: int, size: int, factors: Float64, offsets: Int64, keep: float, gradients: Float32
) -> None:
    """Gradient that each token of a sentence gets, for one block of columns: flat float32 [4n · size]."""
    n = len(factors)
    for i in range(n):
        f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 = factors[i].astype(np.float32)
        w0 = np.float32(keep / max(1, offsets[i + 1] - offsets[i]))
        w1 = np.float32(keep / max(1, offsets[n + i + 1] - offsets[n + i]))
        w2 = np.float32(keep / max(1, offsets[2 * n + i + 1] - offsets[2 * n + i]))
        w3 = np.float32(keep / max(1, offsets[3 * n + i + 1] - offsets[3 * n + i]))
        at0, at1 = np.uintp(i * size), np.uintp((n + i) * size)
        at2, at3 = np.uintp((2 * n + i) * size), np.uintp((3 * n + i) * size)
        for d in range(np.uintp(size)):
            s, t = vectors[block, i, d], vectors[block, n + i, d]
            t_, s_ = vectors[block, 2 * n + i, d], vectors[block, 3 * n + i, d]
            gradients[at0 + d] = w0 * (f0 * s + f1 * t + f2 * t_)
            gradients[at1 + d] = w1 * (f3 * s + f4 * t + f5 * s_)
            gradients[at2 + d] = w2 * (f6 * s + f7 * t_)
            gradients[at3 + d] = w3 * (f8 * t + f9 * s_)


@jit
def backward(
    parameters: Parameters, width: int, edges: Int64, batch: MiniBatch, missed: Missed, step: Step,
    vectors: Float32, factors: Float64, first_block: int, end_block: int,
) -> None:  # fmt: skip
    """Compute the gradients of a mini-batch's rows, and take a step of Adam with them."""
    table, first, second = parameters
    keep = 65536.0 / (65536.0 - step.dropped)
    learning_rate = rate(step, step.number)
    correction = np.float32(learning_rate / (1.0 - BETA1**step.number))
    scale = np.float32(1.0 / np.sqrt(1.0 - BETA2**step.number))
    epsilon, decay = np.float32(EPSILON), np.float32(1.0 - learning_rate * step.weight_decay)
    new1, new2 = np.float32(1.0 - BETA1), np.float32(1.0 - BETA2)
    gradients = np.empty((len(batch.offsets) - 1) * width, np.float32)
    places = np.empty(len(batch.sentences), np.int64)
    sums = np.empty(width, np.float32)
    # The last block of `forward` comes first, because it is still in the cache.
    for block in range(end_block - 1, first_block - 1, -1):
        shift, size = edges[block], edges[block + 1] - edges[block]
        sentence_gradients(vectors, block, size, factors, batch.offsets, keep, gradients)
        for i in range(len(places)):
            places[i] = batch.sentences[i] * size
        for i in range(len(batch.rows)):
            if i + AHEAD < len(batch.rows):
                fetch(parameters, np.int64(batch.rows[i + AHEAD]) * width + shift, size)
            begin, end = batch.starts[i], batch.starts[i + 1]
            sums[:size] = 0.0
            if step.dropped:
                for place in range(begin, end):
                    add_dropped(sums, gradients, places[place], size, batch.order[place], shift, step)
            else:
                add_rows(sums, gradients, places, begin, end, 0, size)
            old1 = np.float32(BETA1) * missed.decay1[i]
            old2 = np.float32(BETA2) * missed.decay2[i]
            at = np.uintp(np.int64(batch.rows[i]) * width + shift)
            for d in range(np.uintp(size)):
                m = old1 * first[at + d] + new1 * sums[d]
                v = old2 * second[at + d] + new2 * (sums[d] * sums[d])
                first[at + d] = m
                second[at + d] = v
                table[at + d] = decay * table[at + d] - correction * m / (np.sqrt(v) * scale + epsilon)
