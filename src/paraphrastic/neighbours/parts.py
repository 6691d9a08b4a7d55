"""Work in parts that threads share."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from paraphrastic.base.arrays import Float32
from paraphrastic.model.forks import not_forked

Item = TypeVar("Item")

# Limits BLAS to one thread, once for each search that runs; several may run at the same time.
_BLAS, _LIMITS, _LOCK = ThreadpoolController(), list[Any](), Lock()


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
    with not_forked(), _LOCK:
        _LIMITS.append(_LIMITS[0] if _LIMITS else _BLAS.limit(limits=1, user_api="blas"))
    try:
        with ThreadPoolExecutor(threads) as pool:
            yield Workers(threads, pool)
    finally:
        with not_forked(), _LOCK:
            limit = _LIMITS.pop()
            if not _LIMITS:
                limit.restore_original_limits()


def _restore_limits() -> None:
    if _LIMITS:
        _LIMITS[0].restore_original_limits()
        _LIMITS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restore_limits)


def multiply(rows: Float32, columns: Float32, products: Float32) -> Float32:
    """Write the products of all rows, [n, dim], and columns, [dim, m], to `products`, [n, m]."""
    with not_forked():
        return np.matmul(rows, columns, out=products)


def slices(n: int, size: int, start: int = 0) -> list[slice]:
    """Split the range from `start` to n into slices of this size."""
    return [slice(first, min(n, first + size)) for first in range(start, n, size)]
