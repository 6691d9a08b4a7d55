"""Threads that share pieces of work."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch


class Workers:
    """Threads that share a piece of work, in each of which torch uses no further ones.

    The work must release Python's lock.
    """

    def __init__(self, threads: int) -> None:
        self.size = threads
        self._pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))

    def run(self, task: Callable[[int], None]) -> None:
        """Call `task(index)` for every index below `size` in parallel, and return when all are done."""
        list(self._pool.map(task, range(self.size)))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
