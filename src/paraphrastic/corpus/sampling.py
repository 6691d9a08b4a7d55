"""A random sample of a stream whose length is not known."""

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")


class StreamSample(Generic[T]):
    """Keeps the `size` items with the smallest keys; with random keys, that is a random sample."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._bound = np.inf
        self._kept: list[tuple[float, T]] = []

    def candidates(self, keys: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """Indices of the keys that may enter the sample: few, once the stream is long."""
        found = np.flatnonzero(keys < self._bound)
        return found[np.argsort(keys[found], kind="stable")[: self._size]]

    def add(self, key: float, item: T) -> None:
        """Offer one item with its key, in [0, 1)."""
        self._kept.append((key, item))
        if len(self._kept) >= 2 * self._size:
            self._shrink()

    def items(self) -> list[T]:
        """The sample, in the random order of its keys."""
        self._shrink()
        return [item for _, item in self._kept]

    def _shrink(self) -> None:
        self._kept.sort(key=lambda entry: entry[0])
        del self._kept[self._size :]
        if len(self._kept) == self._size:
            self._bound = self._kept[-1][0]
