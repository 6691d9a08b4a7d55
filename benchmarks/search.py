"""Speed of searches: `python benchmarks/search.py [--repeats N] [--threads N] [--clock cpu]`.

Finds the 10 nearest rows of a matrix for one query, for some and for many, near duplicates among sentences,
and the 4 nearest neighbours of sentences in both directions, as mining does. A plain reference in numpy takes
turns with each: it multiplies blocks and takes the highest products or, for near duplicates, those above the
threshold, in the order of the sentences. If FAISS is installed, its exact index takes part, which is built
before. A sentence is the sum of 14 random vectors that are drawn by Zipf's law. Translations share half of
them. A fifth of the sentences in which near duplicates are sought are copies of earlier ones with one token
replaced. Writes results/benchmarks/search.json.
"""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from timing import medians, options_of, zipf_chances

from paraphrastic import near_duplicates, search
from paraphrastic.base.arrays import Float32, Int64
from paraphrastic.base.files import write_json
from paraphrastic.neighbours.nearest import nearest_neighbours

# Rows and dimension of each search, and sentences and dimension of the other cases.
SEARCHES = [(100_000, 300), (100_000, 1024)]
DUPLICATES = [(20_000, 300), (20_000, 1024)]
BITEXTS = [(10_000, 300), (10_000, 1024)]
QUERIES = (1, 100, 2_000)
NEAREST = 10
NEIGHBOURS = 4
THRESHOLD = 0.9
COPIED = 0.2
TOKENS = 14
ROWS = 30_000
BLOCK = 2_048

Ways = dict[str, Callable[[], Any]]


def main() -> None:
    """Measure, print and write the figures."""
    options = options_of(__doc__ or "", name="search").parse_args()
    quick = [(600, 32)] if options.quick else None
    # A first call compiles the kernels or reads them from the cache.
    small = np.eye(99, dtype=np.float32)
    search(small, small)
    near_duplicates(small, THRESHOLD)
    nearest_neighbours(small, small, NEIGHBOURS)
    figures: dict[str, Any] = {}
    for n, dim in quick or SEARCHES:
        vectors = vectors_of(random_tokens(n + max(QUERIES))[0], dim)
        for count in QUERIES:
            name = f"{count} queries, {n} rows, {dim} dimensions"
            figures[name] = measured(name, ways_to_search(vectors, n, count, options.threads), options)
    for n, dim in quick or DUPLICATES:
        name = f"near duplicates of {n} sentences, {dim} dimensions"
        vectors = vectors_of(near_copies(n), dim)
        ways: Ways = {
            "paraphrastic": partial(near_duplicates, vectors, THRESHOLD, threads=options.threads),
            "numpy": partial(kept_plainly, vectors),
        }
        figures[name] = measured(name, ways, options)
    for n, dim in quick or BITEXTS:
        name = f"neighbours of {n} sentences on each side, {dim} dimensions"
        x, y = (vectors_of(tokens, dim) for tokens in random_tokens(n))
        ways = {
            "paraphrastic": partial(nearest_neighbours, x, y, NEIGHBOURS, threads=options.threads),
            "numpy": partial(in_both_directions, x, y),
        }
        figures[name] = measured(name, ways, options)
    about = {"clock": options.clock, "threads": options.threads}
    write_json(options.output, {**about, "seconds": figures})


def measured(name: str, ways: Ways, options: argparse.Namespace) -> dict[str, float]:
    """Median seconds of each way, which are printed, also as a multiple of ours."""
    seconds = medians(ways, options)
    ours = seconds["paraphrastic"]
    shown = (f"{way} {taken:.3f} s ({taken / ours:.2f})" for way, taken in seconds.items())
    print(f"{name}: " + ", ".join(shown), flush=True)
    return seconds


def random_tokens(n: int) -> tuple[Int64, Int64]:
    """Tokens of n sentences and their translations, which keep each token with a chance of one half."""
    generator = np.random.default_rng(1)
    cumulated = np.cumsum(zipf_chances(ROWS))
    source, new = np.minimum(np.searchsorted(cumulated, generator.random((2, n, TOKENS))), ROWS - 1)
    return source, np.where(generator.random(source.shape) < 0.5, source, new)


def near_copies(n: int) -> Int64:
    """Tokens of n sentences, some of which copy an earlier sentence except for one token."""
    generator = np.random.default_rng(2)
    tokens, _ = random_tokens(n)
    copies = np.flatnonzero(generator.random(n) < COPIED)[1:]
    positions = generator.integers(TOKENS, size=len(copies))
    new = tokens[copies, positions]
    tokens[copies] = tokens[(generator.random(len(copies)) * copies).astype(np.int64)]
    tokens[copies, positions] = new
    return tokens


def vectors_of(tokens: Int64, dim: int) -> Float32:
    """Vectors of sentences, float32 [n, dim]; the more frequent a token, the less it counts."""
    weights = 1e-3 / (1e-3 + zipf_chances(ROWS))
    table = np.random.default_rng(0).normal(size=(ROWS, dim)) * weights[:, None]
    table = table.astype(np.float32)
    blocks = [tokens[start : start + BLOCK] for start in range(0, len(tokens), BLOCK)]
    return np.concatenate([table[block].sum(axis=1) for block in blocks])


def ways_to_search(vectors: Float32, n: int, count: int, threads: int) -> Ways:
    """Searches of the first n vectors for `count` others: ours, numpy's, and FAISS's if it is installed."""
    vectors, queries = vectors[:n], vectors[n : n + count]
    ways: Ways = {
        "paraphrastic": lambda: search(vectors, queries, NEAREST, threads=threads),
        "numpy": lambda: highest(queries, vectors, NEAREST),
    }
    try:
        import faiss
    except ImportError:
        return ways
    faiss.omp_set_num_threads(threads)

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(unit(vectors))
    return {**ways, "FAISS": lambda: index.search(unit(queries), NEAREST)}


def unit(vectors: Float32) -> Float32:
    """Scale vectors to unit length."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def highest(queries: Float32, vectors: Float32, count: int) -> tuple[Int64, Float32]:
    """Indices and cosines of the `count` nearest rows of each query, in blocks of products."""
    queries = unit(queries)
    indices, cosines = np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32)
    for start in range(0, len(vectors), 8 * BLOCK):
        products = queries @ unit(vectors[start : start + 8 * BLOCK]).T
        nearest = np.argpartition(products, -count, axis=1)[:, -count:]
        indices = np.concatenate([indices, nearest + start], axis=1)
        cosines = np.concatenate([cosines, np.take_along_axis(products, nearest, axis=1)], axis=1)
    order = np.argsort(-cosines, axis=1)[:, :count]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(cosines, order, axis=1)


def in_both_directions(x: Float32, y: Float32) -> list[tuple[Int64, Float32]]:
    """The nearest neighbours of each x among y, and of each y among x."""
    return [highest(x, y, NEIGHBOURS), highest(y, x, NEIGHBOURS)]


def kept_plainly(vectors: Float32) -> Int64:
    """Indices of the sentences to keep, from the products of each block with all sentences up to its end."""
    units = unit(vectors)
    kept = np.ones(len(units), np.bool_)
    for start in range(0, len(units), BLOCK):
        stop = min(len(units), start + BLOCK)
        rows, columns = np.nonzero(units[start:stop] @ units[:stop].T >= THRESHOLD)
        for row, column in zip((rows + start).tolist(), columns.tolist(), strict=True):
            if column < row and kept[column]:
                kept[row] = False
    return np.flatnonzero(kept)


if __name__ == "__main__":
    main()
