"""Threads that share a piece of work."""

import sys
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread


class Team:
    """Threads that share a piece of work; the caller is one of them.

    The work must release Python's lock. Inside of it, torch, if it was imported before, uses one thread.
    """

    def __init__(self, threads: int) -> None:
        self.size = threads
        self._tasks: list[SimpleQueue[Callable[[int], None] | None]] = []
        self._results: SimpleQueue[BaseException | None] = SimpleQueue()
        for index in range(1, threads):
            self._tasks.append(SimpleQueue())
            Thread(target=self._work, args=(index,), daemon=True).start()

    def run(self, task: Callable[[int], None]) -> None:
        """Call `task(index)` for every index below `size`, at once; returns when all are done."""
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
        # Models in use do without torch.
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
