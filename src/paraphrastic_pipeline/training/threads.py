"""Threads that share pieces of work."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.threads import in_order

Output = TypeVar("Output")

# The fewest rows that are worth a thread.
_LEAST = 512
# Rows of a matrix that a thread multiplies at a time.
_ROWS = 2048


def in_blocks(work: Callable[[slice], Output], size: int, block: int, threads: int) -> list[Output]:
    """Compute `work(rows)` in several threads for all blocks of `size` rows; results come in order.

    A block has at most `block` rows. If there are few rows, blocks are smaller, so that every thread has one.
    """
    block = min(block, max(_LEAST, -(-size // threads)))
    blocks = [slice(start, min(start + block, size)) for start in range(0, size, block)]
    return list(in_order(work, blocks, max(1, min(threads, len(blocks)))))


def product(matrix: Any, block: Float32, threads: int) -> Float32:
    """The product of a sparse matrix with a dense block, which threads compute by rows."""
    return np.concatenate(in_blocks(lambda rows: matrix[rows] @ block, matrix.shape[0], _ROWS, threads))


@contextmanager
def single_threaded_torch() -> Iterator[None]:
    """Let torch use one thread, since several threads of ours call it."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class Workers:
    """Threads that share a piece of work; the caller's thread is one of them.

    The work must release Python's lock. If torch is loaded, it runs single-threaded in the other threads.
    """

    def __init__(self, threads: int) -> None:
        self.size = threads
        self._tasks: list[SimpleQueue[Callable[[int], None] | None]] = []
        self._results: SimpleQueue[BaseException | None] = SimpleQueue()
        for index in range(1, threads):
            self._tasks.append(SimpleQueue())
            Thread(target=self._work, args=(index,), daemon=True).start()

    def run(self, task: Callable[[int], None]) -> None:
        """Call `task(index)` for every index below `size` in parallel, and return when all are done."""
        for tasks in self._tasks:
            tasks.put(task)
        error: BaseException | None = None
        try:
            task(0)
        finally:
            for _ in self._tasks:
                error = self._results.get() or error
        if error is not None:
            raise error

    def _work(self, index: int) -> None:
        # torch is not imported here, since not all work needs it.
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)
        while True:
            task = self._tasks[index - 1].get()
            if task is None:
                return
            try:
                task(index)
            except BaseException as error:
                self._results.put(error)
            else:
                self._results.put(None)
            del task

    def close(self) -> None:
        """End the threads."""
        for tasks in self._tasks:
            tasks.put(None)
