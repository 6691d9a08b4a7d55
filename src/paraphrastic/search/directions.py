"""Directions of many vectors in little memory."""

from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.errors import InputError
from paraphrastic.base.threads import Workers
from paraphrastic.search.kernels import Entries, Float32, Float64, Int64, measure, normalize
from paraphrastic.search.parts import share, slices

Rows = slice | Int64

_LARGEST = 32767
# Vectors that a thread measures at a time.
_PART = 512


class Directions:
    """Directions of vectors: as float32, or in half the memory as 16-bit integers, for cosines to 4 digits.

    Two directions have the same cosine whatever block it is computed in.

    Attributes:
        entries: [n, dim]; a direction is the vector over its largest entry, and for integers times 32,767 and
            rounded, or any other vector in that direction.
        norms: [n], of the entries; a zero vector has none, and cosine 0 with all.
    """

    def __init__(self, entries: Entries, norms: Float64) -> None:
        self.entries, self.norms = entries, norms

    @classmethod
    def empty(cls, n: int, dim: int, *, in_16_bits: bool = False) -> "Directions":
        """Of n zero vectors, to be filled."""
        return cls(np.zeros((n, dim), np.int16 if in_16_bits else np.float32), np.zeros(n))

    @classmethod
    def of(cls, vectors: Float32, *, in_16_bits: bool = False) -> "Directions":
        """Of finite vectors, [n, dim]."""
        directions = cls.empty(*vectors.shape, in_16_bits=in_16_bits)
        directions.fill(0, vectors)
        return directions

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, rows: Rows) -> "Directions":
        return Directions(self.entries[rows], self.norms[rows])

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""
        return int(self.entries.shape[1])

    def fill(self, start: int, vectors: Float32) -> None:
        """Set the directions from `start` on to those of finite vectors, [b, dim]."""
        rows = slice(start, start + len(vectors))
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        scaled = vectors / np.where(largest > 0, largest, 1)
        in_16_bits = self.entries.dtype == np.int16
        self.entries[rows] = np.rint(scaled * np.float32(_LARGEST)) if in_16_bits else scaled
        measure(self.entries[rows], self.norms[rows])

    def units(self) -> Float32:
        """The unit vectors, float32 [n, dim]."""
        units = np.empty(self.entries.shape, np.float32)
        normalize(self.entries, self.norms, units)
        return units


def single(values: npt.NDArray[Any]) -> Float32:
    """Rows in single precision, float32 [n, dim]: those of doubles over their largest entry.

    Direction is all that counts, and a double can be out of the range of single precision.
    """
    if values.dtype == np.float64:
        largest = np.abs(values).max(axis=1, keepdims=True, initial=0)
        with np.errstate(invalid="ignore"):
            values = values / np.where(largest > 0, largest, 1)
    return np.ascontiguousarray(values, np.float32)


def two_axes(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """The array, if it is one of floating-point numbers, [n, dim], and otherwise an `InputError`."""
    values = np.asarray(values)
    if values.ndim != 2 or values.dtype.kind != "f":
        raise InputError(f"{name}: not rows of floating-point numbers, but {values.dtype} {values.shape}")
    return values


def directions_of(values: Float32, workers: Workers, name: str, first: int = 0) -> Directions:
    """Of rows as they are, [n, dim], without a copy; for messages, `first` of `name` stand before them.

    Raises:
        InputError: a row is not finite.
    """
    norms = np.empty(len(values))
    share(workers, slices(len(values), _PART), lambda part, _: measure(values[part], norms[part]))
    finite = np.isfinite(norms)
    if not finite.all():
        raise InputError(f"{name}: row {first + int(finite.argmin()) + 1} has numbers that are not finite")
    return Directions(values, norms)
