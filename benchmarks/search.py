"""Speed of search and deduplication: `python benchmarks/search.py [--repeats N] [--threads N] [--clock cpu]`.

Finds the 10 nearest rows of a matrix for one query, for some and for many, and near duplicates among
sentences. The same run also times a plain reference, which multiplies blocks with numpy and takes the highest
products of each or, for near duplicates, those above the threshold, in the order of the sentences. If FAISS
is installed, its exact index is measured too, both with and without the time to build it, since ours needs no
index. Sentences are made as in `mining.py`. For deduplication, a fifth of them are copies of earlier ones
with one token replaced. Writes results/benchmarks/search.json.

With --sentences N, measures instead the time and the memory of deduplicating a file of N sentences in a
process of its own, from reading the file to writing it. Writes results/benchmarks/dedup_file.json.
"""

import argparse
import multiprocessing
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from mining import TokenSums, peak_mb, report, token_blocks, token_vectors
from timing import CLOCKS, medians, search_options

from paraphrastic import near_duplicates, search
from paraphrastic.base.files import write_json
from paraphrastic.base.rows import Source
from paraphrastic.neighbours.dedup_files import dedup_file

ROWS = [(100_000, 300), (100_000, 1024)]
QUERIES = (1, 100, 2_000)
NEAREST = 10
# Number of sentences and dimension of each deduplication case.
CASES = [(20_000, 300), (20_000, 1024), (100_000, 300)]
THRESHOLD = 0.9
COPIED = 0.2
# The plain reference is too slow for more sentences.
MAX_REFERENCE = 20_000
BLOCK = 2_048


def main() -> None:
    """Measure, print and write the figures."""
    options = search_options(__doc__, threads="of ours and FAISS's; numpy has its own")
    if options.sentences:
        measure_file(options)
        return
    # A first call compiles the kernels or reads them from the cache.
    small = np.eye(99, dtype=np.float32)
    search(small, small)
    near_duplicates(small, THRESHOLD)
    figures: dict[str, Any] = {}
    for n, dim in [(3000, 32)] if options.quick else ROWS:
        vectors = vectors_of(n + max(QUERIES), dim)
        for count in QUERIES:
            name = f"{count} queries, {n} rows, {dim} dimensions"
            figures[name] = medians(
                ways_to_search(vectors[:n], vectors[n : n + count], options.threads), options
            )
            report(name, figures[name])
    for n, dim in [(600, 32)] if options.quick else CASES:
        name = f"near duplicates of {n} sentences, {dim} dimensions"
        figures[name] = medians(ways_to_dedup(near_copies(n, dim), options.threads), options)
        report(name, figures[name])
    about = {"clock": options.clock, "threads": options.threads}
    write_json(options.output or "results/benchmarks/search.json", {**about, "seconds": figures})


def vectors_of(n: int, dim: int) -> np.ndarray:
    """Vectors of n sentences: float32 [n, dim]."""
    table = token_vectors(dim)
    return np.concatenate([table[source].sum(axis=1) for source, _ in token_blocks(n)])


def near_copies(n: int, dim: int) -> np.ndarray:
    """Vectors of n sentences, some of which copy an earlier sentence except for one token."""
    generator = np.random.default_rng(2)
    tokens = np.concatenate([source for source, _ in token_blocks(n)])
    copies = np.flatnonzero(generator.random(n) < COPIED)[1:]
    places = generator.integers(tokens.shape[1], size=len(copies))
    new = tokens[copies, places]
    tokens[copies] = tokens[(generator.random(len(copies)) * copies).astype(np.int64)]
    tokens[copies, places] = new
    table = token_vectors(dim)
    return np.concatenate([table[block].sum(axis=1) for block in np.array_split(tokens, -(-n // BLOCK))])


def ways_to_search(vectors: np.ndarray, queries: np.ndarray, threads: int) -> dict[str, Callable[[], Any]]:
    """Searches to time: ours, numpy's, and FAISS's if it is installed."""
    ways = {
        "paraphrastic": lambda: search(vectors, queries, NEAREST, threads=threads),
        "numpy": lambda: nearest_plainly(vectors, queries),
    }
    try:
        import faiss
    except ImportError:
        return ways
    faiss.omp_set_num_threads(threads)

    def with_faiss() -> Any:
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(unit(vectors))
        return index.search(unit(queries), NEAREST)

    made = faiss.IndexFlatIP(vectors.shape[1])
    made.add(unit(vectors))
    return {
        **ways,
        "FAISS": with_faiss,
        "FAISS, index made before": lambda: made.search(unit(queries), NEAREST),
    }


def unit(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors to unit length."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def nearest_plainly(vectors: np.ndarray, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices and cosines of the nearest rows, computed with numpy."""
    queries = unit(queries)
    indices, cosines = np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32)
    for start in range(0, len(vectors), 8 * BLOCK):
        products = queries @ unit(vectors[start : start + 8 * BLOCK]).T
        nearest = np.argpartition(products, -NEAREST, axis=1)[:, -NEAREST:]
        indices = np.concatenate([indices, nearest + start], axis=1)
        cosines = np.concatenate([cosines, np.take_along_axis(products, nearest, axis=1)], axis=1)
    order = np.argsort(-cosines, axis=1)[:, :NEAREST]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(cosines, order, axis=1)


def ways_to_dedup(vectors: np.ndarray, threads: int) -> dict[str, Callable[[], Any]]:
    """Deduplications to time: ours, and numpy's unless there are too many vectors."""
    ways: dict[str, Callable[[], Any]] = {
        "paraphrastic": lambda: near_duplicates(vectors, THRESHOLD, threads=threads)
    }
    return {**ways, "numpy": lambda: kept_plainly(vectors)} if len(vectors) <= MAX_REFERENCE else ways


def kept_plainly(vectors: np.ndarray) -> np.ndarray:
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


def measure_file(options: argparse.Namespace) -> None:
    """Deduplicate a file in a separate process, and print and write its time and memory."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source.txt")
        with source.open("w") as file:
            for block, _ in token_blocks(options.sentences):
                file.writelines(" ".join(map(str, row)) + "\n" for row in block.tolist())
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=context) as process:
            arguments = [str(source), str(Path(folder, "kept.txt")), options.dimension, options.threads]
            figures = process.submit(dedup_alone, *arguments).result()
    print(f"{options.sentences:,} sentences, {options.dimension} dimensions: "
          f"{figures['seconds']:.0f} s ({figures['cpu_seconds']:.0f} s of processor time), "
          f"{figures['peak_mb']:,.0f} MB at most, {figures['imported_mb']:,.0f} MB before")  # fmt: skip
    about = {"sentences": options.sentences, "dimension": options.dimension, "threads": options.threads}
    write_json(options.output or "results/benchmarks/dedup_file.json", {**about, **figures})


def dedup_alone(source: str, output: str, dimension: int, threads: int) -> dict[str, float]:
    """Seconds and peak memory (MB) of deduplicating a file with an encoder that adds up token vectors."""
    encoder = TokenSums(dimension)
    imported = peak_mb()
    wall, cpu = CLOCKS["wall"], CLOCKS["cpu"]
    start = wall(), cpu()
    kept, dropped = dedup_file(encoder, Source(source), output, threshold=THRESHOLD, threads=threads)
    return {
        "seconds": wall() - start[0],
        "cpu_seconds": cpu() - start[1],
        "kept": kept,
        "dropped": dropped,
        "imported_mb": imported,
        "peak_mb": peak_mb(),
    }


if __name__ == "__main__":
    main()
