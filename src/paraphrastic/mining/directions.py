"""Directions of many vectors in little memory, and as they are multiplied."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraphrastic.mining.kernels import Entries, Float64, Int32
from paraphrastic.team import Team

Float32 = npt.NDArray[np.float32]
Rows = slice | Int32

# The share of vectors whose entries fit into eight bits; those of the others are cut.
FITTING = 0.995
# Vectors that are prepared at a time.
_BLOCK = 1024
_LARGEST = 32767
_LARGEST_BYTE = 127


class Directions:
    """Directions of vectors: as float32, or in half the memory as 16-bit integers, for cosines to 4 digits.

    A direction is the vector over its largest entry, and for integers times 32,767 and rounded. Two
    directions have the same cosine whatever block it is computed in.

    Attributes:
        entries: [n, dim].
        norms: [n], of the entries; a zero vector has none, and cosine 0 with all.
    """

    def __init__(self, entries: Entries, norms: Float64) -> None:
        self.entries, self.norms = entries, norms
        self._top = _LARGEST if entries.dtype == np.int16 else 1

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
        self.entries[rows] = np.rint(scaled * np.float32(_LARGEST)) if self._top > 1 else scaled
        entries = self.entries[rows]
        self.norms[rows] = np.sqrt(np.einsum("nd,nd->n", entries, entries, dtype=np.float64))

    def units(self) -> Tensor:
        """The unit vectors, float32 [n, dim]."""
        inverse = np.divide(1, self.norms, out=np.zeros_like(self.norms), where=self.norms > 0)
        return torch.from_numpy(self.entries).float() * torch.from_numpy(inverse).float()[:, None]

    def largest(self) -> Float64:
        """The largest entry of each unit vector, [n]; of a zero vector 0."""
        return np.divide(self._top, self.norms, out=np.zeros_like(self.norms), where=self.norms > 0)


class Factors:
    """Unit vectors as they are multiplied: in float32, bfloat16, or in eight bits.

    Attributes:
        directions: of the vectors.
        precision: `torch.float32`, `torch.bfloat16` or `torch.int8`.
        scale: what the unit vectors are multiplied with; 1 but for eight bits.
        outliers: indices of vectors that were cut, int32 [c]; their products can be far from the cosines.
    """

    def __init__(self, directions: Directions, precision: torch.dtype) -> None:
        self.directions, self.precision = directions, precision
        self.scale, self.outliers = 1.0, np.empty(0, np.int32)
        if precision == torch.int8:
            largest = directions.largest()
            fitting = float(np.quantile(largest, FITTING, method="higher")) or 1.0
            self.scale = _LARGEST_BYTE / fitting
            self.outliers = np.flatnonzero(largest > fitting).astype(np.int32)

    def __len__(self) -> int:
        return len(self.directions)

    def __getitem__(self, rows: Rows) -> Tensor:
        units = self.directions[rows].units()
        if self.precision == torch.int8:
            units.mul_(self.scale).round_().clamp_(-_LARGEST_BYTE, _LARGEST_BYTE)
        return units.to(self.precision)

    def rounding(self, team: Team) -> Float64:
        """How far the unit vectors are from what is multiplied in their place, over the scale, [n]."""
        distances = np.zeros(len(self))
        blocks = iter(slices(len(self), _BLOCK))

        def work(_: int) -> None:
            for block in blocks:
                difference = self.directions[block].units() - self[block].float() / self.scale
                distances[block] = difference.norm(dim=1).numpy()

        team.run(work)
        return distances


def slices(n: int, size: int) -> list[slice]:
    """Parts of n, of this size."""
    return [slice(start, min(n, start + size)) for start in range(0, n, size)]
