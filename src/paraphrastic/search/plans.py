"""How vectors become short integers."""

from dataclasses import dataclass

import numpy as np

from paraphrastic.search.kernels import Float32
from paraphrastic.search.tiles import HAS_BYTES

# The share of vectors of which more may be left than what codes bound well.
_LONGER = 0.01
# Rounding of a unit vector in single precision, and of a sum's terms, with room to spare.
_ROUNDING = 2.0**-20
_TERM = 2.0**-24


@dataclass(frozen=True, slots=True)
class Plan:
    """How vectors become codes.

    Attributes:
        dim: of the vectors.
        basis: float32 [dim, p], orthonormal: the vectors' leading dimensions; None where all are kept.
        in_bytes: eight bits a number, and not 16.
        unit: what 1 stands for in a code.
        rest: how long what is left of a vector may be for the code to bound it well.
    """

    dim: int
    basis: Float32 | None
    in_bytes: bool
    unit: float
    rest: float = 0.0

    @classmethod
    def of(cls, units: Float32, *, in_bytes: bool = HAS_BYTES, basis: Float32 | None = None) -> "Plan":
        """The plan whose unit is best for a sample of unit vectors, [n, dim]."""
        dim = units.shape[1]
        kept = units if basis is None else units @ basis
        shortest = float(np.quantile(np.square(kept).sum(axis=1), _LONGER)) if len(kept) else 0.0
        rest = 0.0 if basis is None else max(1 - shortest, 1e-4) ** 0.5
        if not in_bytes:
            return cls(dim, basis, in_bytes, 1 / 32_000, rest)
        entries = np.abs(kept)
        deviation = float(np.sqrt(np.square(entries).mean(dtype=np.float64))) if entries.size else 0.0

        def error(largest: float) -> float:
            cut = float(np.square(np.maximum(entries - largest, 0)).mean(dtype=np.float64))
            return (largest / 127) ** 2 / 12 + cut

        candidates = [factor * deviation for factor in (2.5, 3, 3.5, 4, 5, 7, 10)]
        candidates += [float(entries.max(initial=0))]
        largest = min(candidates, key=error) if entries.size else 1.0
        return cls(dim, basis, in_bytes, max(largest, 1e-2) / 127, rest)

    @property
    def kept(self) -> int:
        """Dimensions that are kept."""
        return self.dim if self.basis is None else int(self.basis.shape[1])

    @property
    def guards(self) -> int:
        """Places of a code that bound what the dimensions add that are not kept."""
        if self.basis is None:
            return 0
        return max(1, int(np.ceil((self.rest / (126 * self.unit)) ** 2))) if self.in_bytes else 2

    @property
    def words(self) -> int:
        """Words of four bytes that a code takes."""
        return max(1, -(-(self.kept + self.guards) // (4 if self.in_bytes else 2)))

    @property
    def product_unit(self) -> float:
        """What 1 stands for in a product of two codes."""
        return self.unit**2

    @property
    def slack(self) -> float:
        """How far single precision can be off in what is kept of a unit vector."""
        return _ROUNDING if self.basis is None else _ROUNDING + self.dim * _TERM * self.kept**0.5
