"""Rows of numbers as vectors that are compared by direction."""

from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.errors import InputError
from paraphrastic.neighbours.kernels import Entries, Float32, Float64

_LARGEST = 32767


def direction_entries(vectors: Float32, *, in_16_bits: bool = False) -> Entries:
    """Finite vectors, [n, dim], over their largest entry: their cosines are the same, and they fit any range.

    With `in_16_bits` they are times 32,767 and rounded, int16, which takes half the memory and keeps cosines
    to four digits.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scaled = vectors / np.where(largest > 0, largest, 1)
    return np.rint(scaled * np.float32(_LARGEST)).astype(np.int16) if in_16_bits else scaled


def single(values: npt.NDArray[Any]) -> Float32:
    """Rows in single precision, float32 [n, dim]; doubles are divided by the largest entry of their row.

    Only direction counts, and a double can be out of the range of single precision.
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


def require_finite(norms: Float64, name: str, first: int = 0) -> None:
    """Raise an `InputError` that names the first row whose norm is not finite; `first` rows stand before."""
    finite = np.isfinite(norms)
    if not finite.all():
        raise InputError(f"{name}: row {first + int(finite.argmin()) + 1} has numbers that are not finite")
