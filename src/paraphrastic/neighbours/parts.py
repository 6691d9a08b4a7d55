"""Work in parts that threads share."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

from paraphrastic.base.threads import Item, Workers


class _SingleThreaded:
    """Limits BLAS and torch to one thread while any search runs; several may run at the same time."""

    def __init__(self) -> None:
        self._controller, self._lock, self._users = ThreadpoolController(), Lock(), 0
        self._limit: Any = None
        self._threads = 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._users += 1
            if "torch" in sys.modules:
                self._threads = self._threads or sys.modules["torch"].get_num_threads()
                # This sets it for the calling thread; `Workers` sets it for the others.
                sys.modules["torch"].set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._limit.restore_original_limits()
            if self._threads:
                sys.modules["torch"].set_num_threads(self._threads)
            if not self._users:
                self._threads = 0


_SINGLE_THREADED = _SingleThreaded()


@contextmanager
def multiplying_workers(threads: int) -> Iterator[Workers]:
    """Yield threads that each multiply their own matrices; libraries start no further threads meanwhile."""
    with _SINGLE_THREADED, closing(Workers(threads)) as workers:
        yield workers


def slices(n: int, size: int, start: int = 0) -> list[slice]:
    """Split the range from `start` to n into slices of this size."""
    return [slice(first, min(n, first + size)) for first in range(start, n, size)]


def share(workers: Workers, parts: Iterable[Item], task: Callable[[Item, int], None]) -> None:
    """Call `task(part, thread index)` for all parts, which the threads take in order, one at a time."""
    left = iter(parts)

    def work(index: int) -> None:
        try:
            for part in left:
                task(part, index)
        finally:
            # After an error or an interrupt, the other threads find nothing more to do.
            for _ in left:
                pass

    workers.run(work)
