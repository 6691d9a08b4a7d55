"""What the benchmarks share: their options, medians of ways that take turns, and chances of tokens."""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paraphrastic.base.arrays import Float64

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def options_of(description: str, *, name: str) -> argparse.ArgumentParser:
    """A parser of the options that all benchmarks have; `name` is that of the file of figures."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="of which the median counts (%(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="of all that can be told (%(default)s)")
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall",
        help="cpu: processor time of all threads, for machines that are busy",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="small sizes, which only show that it runs")
    parser.add_argument("--output", default=f"results/benchmarks/{name}.json", help="figures (%(default)s)")
    return parser


def medians(ways: Mapping[str, Callable[[], Any]], options: argparse.Namespace) -> dict[str, float]:
    """Median seconds of each way over `options.repeats` rounds, in which all ways take turns."""
    clock = CLOCKS[options.clock]
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.repeats):
        for name, way in ways.items():
            start = clock()
            way()
            times[name].append(clock() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def zipf_chances(rows: int) -> Float64:
    """The probability of each token, [rows], by Zipf's law.

    With these chances, a mini-batch has as many distinct rows as real captions in English and German.
    """
    chances = (np.arange(rows) + 2.7) ** -1.15
    return chances / chances.sum()
