"""Clocks and medians for the benchmarks."""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def add_clock(parser: argparse.ArgumentParser) -> None:
    """Add the option `--clock`."""
    parser.add_argument(
        "--clock",
        choices=CLOCKS,
        default="wall",
        help="cpu: processor time of all threads, for machines that are busy",
    )


def search_options(description: str, *, threads: str) -> argparse.Namespace:
    """Parse the options of a search benchmark; `threads` is the help text of `--threads`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="searches, of which the median counts")
    parser.add_argument("--threads", type=int, default=2, help=threads)
    add_clock(parser)
    parser.add_argument("--sentences", type=int, help="measure files of this many sentences instead")
    parser.add_argument("--dimension", type=int, default=300, help="with --sentences")
    parser.add_argument("--quick", action="store_true", help="few sentences")
    parser.add_argument("--output", help="JSON of all figures")
    return parser.parse_args()


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
