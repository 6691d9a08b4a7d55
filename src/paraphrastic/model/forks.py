"""Forks of a process whose threads are at work.

The new process has no other threads, so nothing would ever release a lock that one of them had at that moment
in numba, in sentencepiece or in numpy's library for products.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock, get_ident
from time import sleep

from numba.core.compiler_lock import global_compiler_lock

# The threads that are at work, and the lock that they need for a moment to begin.
_AT_WORK, _LOCK = set[int](), RLock()


@contextmanager
def not_forked() -> Iterator[None]:
    """Let this process be forked only after the block, and begin the block only after a fork."""
    if (thread := get_ident()) in _AT_WORK:
        yield
        return
    with _LOCK:
        _AT_WORK.add(thread)
    try:
        yield
    finally:
        _AT_WORK.remove(thread)


def _before() -> None:
    _LOCK.acquire()
    while _AT_WORK - {get_ident()}:
        sleep(0.001)
    # Last, since a thread at work may be waiting for a kernel that another one compiles.
    global_compiler_lock.acquire()


def _after() -> None:
    global_compiler_lock.release()
    _LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
