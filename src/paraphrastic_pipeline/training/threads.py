"""Threads that share pieces of work."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch


class Workers:
    """Threads that share a piece of work, in each of which torch uses no further ones.

    The work must release Python's lock. The caller's thread is one of them, since waking others takes time.
    """

    def __init__(self, threads: int) -> None:
        self.size = threads
        self._pool = ThreadPoolExecutor(max(1, threads - 1), initializer=torch.set_num_threads, initargs=(1,))

    def run(self, task: Callable[[int], None]) -> None:
        """Call `task(index)` for every index below `size` in parallel, and return when all are done."""
        others = [self._pool.submit(task, index) for index in range(1, self.size)]
        # The fused engine's caller has one thread of torch anyway, and setting it takes time.
        if (threads := torch.get_num_threads()) > 1:
            torch.set_num_threads(1)
        try:
            task(0)
        finally:
            if threads > 1:
                torch.set_num_threads(threads)
        for other in others:
            other.result()

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
