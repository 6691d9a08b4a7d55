"""Work in parts, which threads share."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from paraphrastic.base.threads import Workers

Part = TypeVar("Part")


def slices(n: int, size: int, start: int = 0) -> list[slice]:
    """Parts of what is between `start` and n, of this size."""
    return [slice(first, min(n, first + size)) for first in range(start, n, size)]


def share(workers: Workers, parts: Iterable[Part], task: Callable[[Part, int], None]) -> None:
    """Call `task(part, index of the thread)` for all parts, which threads take in order, one at a time."""
    left = iter(parts)

    def work(index: int) -> None:
        try:
            for part in left:
                task(part, index)
        finally:
            # After an interrupt the other threads find nothing more to do.
            for _ in left:
                pass

    workers.run(work)
