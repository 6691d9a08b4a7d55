"""Speed of mining: `python benchmarks/mining.py [--repeats N] [--threads N] [--clock cpu]`.

Finds the 4 nearest neighbours of sentences in both directions. The same run also times a plain reference,
which computes the whole matrix with numpy and takes the highest entries of its rows and columns, and FAISS's
exact index of each side, if FAISS is installed. A sentence is the weighted average of 14 random vectors that
are drawn by Zipf's law, with higher weights for rare ones. Translations share half of them. Writes
results/benchmarks/mining.json.

With --sentences N, measures instead the time and the memory of mining two files of N sentences in a process
of its own, from reading them to writing the pairs. Writes results/benchmarks/mining_files.json.
"""

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from timing import medians, search_options

from paraphrastic.base.files import write_json
from paraphrastic.base.rows import Source
from paraphrastic.neighbours.mine_files import mine_files
from paraphrastic.neighbours.nearest import nearest_neighbours

TOKENS = 14
ROWS = 30_000
# Number of sentences per side and dimension of each case.
CASES = [(10_000, 300), (10_000, 1024), (40_000, 300)]
NEIGHBOURS = 4
# The reference's whole matrix would be too large for more sentences.
MAX_REFERENCE = 10_000
BLOCK = 1 << 14


def main() -> None:
    """Measure, print and write the figures."""
    options = search_options(__doc__, threads="of ours and FAISS's; numpy has its own")
    if options.sentences:
        measure_files(options)
        return
    figures: dict[str, Any] = {}
    for n, dimension in [(600, 32)] if options.quick else CASES:
        name = f"{n} sentences per side, {dimension} dimensions"
        figures[name] = measure(n, dimension, options)
        report(name, figures[name])
    about = {"clock": options.clock, "threads": options.threads}
    write_json(options.output or "results/benchmarks/mining.json", {**about, "seconds": figures})


def measure(n: int, dimension: int, options: argparse.Namespace) -> dict[str, float]:
    """Median seconds of a search, in turns with the references."""
    table = token_vectors(dimension)
    source, target = (np.concatenate(blocks) for blocks in zip(*token_blocks(n), strict=True))
    x, y = table[source].sum(axis=1), table[target].sum(axis=1)
    ways: dict[str, Callable[[], Any]] = {
        "paraphrastic": partial(nearest_neighbours, x, y, NEIGHBOURS, threads=options.threads)
    }
    if n <= MAX_REFERENCE:
        ways["numpy"] = partial(whole_matrix, x, y)
    try:
        import faiss
    except ImportError:
        return medians(ways, options)
    faiss.omp_set_num_threads(options.threads)

    def with_faiss() -> Any:
        units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y)]
        for rows, queries in (units, units[::-1]):
            index = faiss.IndexFlatIP(dimension)
            index.add(rows)
            index.search(queries, NEIGHBOURS)

    return medians({**ways, "FAISS": with_faiss}, options)


def report(name: str, seconds: dict[str, float]) -> None:
    """Print the seconds of each way, also as a multiple of ours."""
    ours = seconds["paraphrastic"]
    ways = (f"{way} {time:.3f} s ({time / ours:.2f})" for way, time in seconds.items())
    print(f"{name}: " + ", ".join(ways), flush=True)


def whole_matrix(x: np.ndarray, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Indices and cosines of the nearest neighbours in both directions, from the whole matrix."""
    x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y))
    found = []
    for cosines in (x @ y.T, y @ x.T):
        nearest = np.argpartition(cosines, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:]
        found.append((nearest, np.take_along_axis(cosines, nearest, axis=1)))
    return found


def token_chances() -> np.ndarray:
    """Probability of each token, according to Zipf's law."""
    chances = (np.arange(ROWS) + 2.7) ** -1.15
    return chances / chances.sum()


def token_vectors(dimension: int) -> np.ndarray:
    """Vectors of tokens; the more frequent a token, the shorter its vector."""
    weights = 1e-3 / (1e-3 + token_chances())
    vectors = np.random.default_rng(0).normal(size=(ROWS, dimension)) * weights[:, None]
    return vectors.astype(np.float32)


def token_blocks(n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Tokens of sentences and their translations, which keep each token with a chance of one half."""
    generator = np.random.default_rng(1)
    cumulated = np.cumsum(token_chances())
    for start in range(0, n, BLOCK):
        shape = (2, min(BLOCK, n - start), TOKENS)
        source, new = np.minimum(np.searchsorted(cumulated, generator.random(shape)), ROWS - 1)
        yield source, np.where(generator.random(source.shape) < 0.5, source, new)


class TokenSums:
    """An encoder whose sentences are numbers of tokens, and whose vectors are the sums of theirs."""

    label, digest = "sums", ""

    def __init__(self, dimension: int) -> None:
        self.dim, self._table = dimension, token_vectors(dimension)

    def encode(self, sentences: Sequence[str], *, language: str | None = None) -> np.ndarray:
        """Vectors of sentences, [n, dim]."""
        tokens = np.array([sentence.split() for sentence in sentences], np.int32)
        return np.stack([self._table[row].sum(axis=0) for row in tokens])


def measure_files(options: argparse.Namespace) -> None:
    """Mine in a separate process, and print and write its time and memory."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("source.txt", "target.txt")]
        with paths[0].open("w") as source, paths[1].open("w") as target:
            for blocks in token_blocks(options.sentences):
                for file, block in zip((source, target), blocks, strict=True):
                    file.writelines(" ".join(map(str, row)) + "\n" for row in block.tolist())
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=context) as process:
            arguments = [*map(str, paths), str(Path(folder, "mined.tsv")), options.dimension, options.threads]
            figures = process.submit(mine_alone, *arguments).result()
    print(f"{options.sentences:,} sentences per side, {options.dimension} dimensions: "
          f"{figures['seconds'] / 60:.1f} minutes, {figures['peak_mb']:,.0f} MB at most, "
          f"{figures['imported_mb']:,.0f} MB before it began")  # fmt: skip
    about = {"sentences": options.sentences, "dimension": options.dimension, "threads": options.threads}
    write_json(options.output or "results/benchmarks/mining_files.json", {**about, **figures})


def mine_alone(source: str, target: str, output: str, dimension: int, threads: int) -> dict[str, float]:
    """Seconds and peak memory (MB) of mining two files with an encoder that adds up token vectors."""
    encoder = TokenSums(dimension)
    imported = peak_mb()
    start = time.perf_counter()
    pairs = mine_files(encoder, Source(source), Source(target), output, threads=threads)
    return {
        "seconds": time.perf_counter() - start,
        "pairs": pairs,
        "imported_mb": imported,
        "peak_mb": peak_mb(),
    }


def peak_mb() -> float:
    """Peak memory of this process, in MB."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
    return int(line.split()[1]) * 1024 / 1e6


if __name__ == "__main__":
    main()
