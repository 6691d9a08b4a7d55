"""Work in parts that threads share."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")


class _SingleThreaded:
    """Limits BLAS to one thread while any search runs; several may run at the same time."""

    def __init__(self) -> None:
        self._controller, self._lock, self._users = ThreadpoolController(), Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._limit.restore_original_limits()


_SINGLE_THREADED = _SingleThreaded()


class Workers:
    """Threads that each multiply their own matrices."""

    def __init__(self, threads: int, pool: ThreadPoolExecutor) -> None:
        self.size, self._pool = threads, pool

    def share(self, parts: Iterable[Item], task: Callable[[Item, int], None]) -> None:
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

        list(self._pool.map(work, range(self.size)))


@contextmanager
def multiplying_workers(threads: int) -> Iterator[Workers]:
    """Yield threads that multiply; numpy's library for it starts no further threads meanwhile."""
    with _SINGLE_THREADED, ThreadPoolExecutor(threads) as pool:
        yield Workers(threads, pool)


def slices(n: int, size: int, start: int = 0) -> list[slice]:
    """Split the range from `start` to n into slices of this size."""
    return [slice(first, min(n, first + size)) for first in range(start, n, size)]
