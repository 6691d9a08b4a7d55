"""Threads that share pieces of work."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from paraphrastic.base.arrays import Float32
from paraphrastic.base.threads import in_order

# Rows of a matrix that a thread multiplies at a time.
_ROWS = 2048


def product(matrix: Any, block: Float32, threads: int) -> Float32:
    """The product of a sparse matrix with a dense block, which threads compute by rows."""
    starts = range(0, matrix.shape[0], _ROWS)
    parts = in_order(lambda start: matrix[start : start + _ROWS] @ block, starts, threads)
    return np.concatenate(list(parts))


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
