"""Threads that share a piece of work."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Output = TypeVar("Output")

# Items per thread that are started ahead of the one that is waited for.
_AHEAD = 2


def available_cores() -> int:
    """Cores that the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(work: Callable[[Item], Output], items: Iterable[Item], threads: int) -> Iterator[Output]:
    """Compute `work(item)` in several threads, and yield the results in the order of the items.

    The work must release Python's lock most of the time. The caller's thread takes the items, a little ahead
    of the results.
    """
    if threads == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        begun: deque[Future[Output]] = deque()
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) > _AHEAD * threads:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        # After an error or an interrupt, no further item is started.
        pool.shutdown(cancel_futures=True)
