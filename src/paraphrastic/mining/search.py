"""Candidates for nearest neighbours by all similarities between two sets of vectors, block by block."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraphrastic.mining.directions import Factors, slices
from paraphrastic.mining.kernels import Float64, Int32, merge, offer, order_bits
from paraphrastic.team import Team

# Similarities that a thread holds at a time; they are to stay in its cache.
BLOCK_ROWS = 1024
BLOCK_COLUMNS = 256
# Columns that are searched by all rows before the next ones; the threads share them.
PANEL = 16384

# The integers that order similarities: their type; of floating-point numbers also the place of the sign bit,
# and all other bits.
_BITS: dict[torch.dtype, tuple[Any, int, int]] = {
    torch.int8: (np.int32, 0, 0),
    torch.bfloat16: (np.int16, 15, 0x7FFF),
    torch.float32: (np.int32, 31, 0x7FFFFFFF),
}


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates by their similarity in integers, descending: [n, K], and indices, -1 where there is none."""

    values: npt.NDArray[Any]
    indices: Int32

    @classmethod
    def nothing(cls, n: int, size: int, kind: Any) -> "Found":
        """No candidates yet."""
        return cls(np.full((n, size), np.iinfo(kind).min, kind), np.full((n, size), -1, np.int32))

    def __getitem__(self, rows: slice) -> "Found":
        return Found(self.values[rows], self.indices[rows])


class Search:
    """A search of rows among columns, and of columns among rows.

    Args:
        rows: the vectors of n rows.
        columns: those of m columns, in the same precision.
        size: candidates.
        team: the threads; their number does not change what is found.
        progress: is told the share of the work that is done, now and then.
    """

    def __init__(
        self,
        rows: Factors,
        columns: Factors,
        size: int,
        team: Team,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self.rows, self.columns, self.size, self.team, self.progress = rows, columns, size, team, progress
        self.precision = rows.precision
        self.kind, sign, others = _BITS[self.precision]
        self.sign, self.others = self.kind(sign), self.kind(others)
        self.lowest = self.kind(np.iinfo(self.kind).min)

    def both(self) -> tuple[Found, Found]:
        """The candidates of all rows, and of all columns."""
        by_row = Found.nothing(len(self.rows), self.size, self.kind)
        by_column = Found.nothing(len(self.columns), self.size, self.kind)
        for panel in slices(len(self.columns), PANEL):
            width = panel.stop - panel.start
            own = [by_column[panel]]
            own += [Found.nothing(width, self.size, self.kind) for _ in range(1, self.team.size)]
            self._panel(panel, by_row, own)
            for other in own[1:]:
                merge(own[0].values, own[0].indices, other.values, other.indices)
        return by_row, by_column

    def one_way(self) -> Found:
        """The candidates of all rows."""
        by_row = Found.nothing(len(self.rows), self.size, self.kind)
        for panel in slices(len(self.columns), PANEL):
            self._panel(panel, by_row, [Found.nothing(0, self.size, self.kind)] * self.team.size)
        return by_row

    def _panel(self, panel: slice, by_row: Found, by_column: list[Found]) -> None:
        """Offer a panel of columns to the rows; each thread has candidates of the columns of its own."""
        columns = self.columns[panel]
        # Threads take a block as they get to it, in the order of the rows.
        blocks = iter(slices(len(self.rows), BLOCK_ROWS))

        def tell(rows: int) -> None:
            if self.progress:
                self.progress((panel.start + len(columns) * rows / len(self.rows)) / len(self.columns))

        def work(index: int) -> None:
            own = by_column[index]
            bars = own.values[:, -1].copy()
            for block in blocks:
                left = self.rows[block]
                for part in slices(len(columns), BLOCK_COLUMNS):
                    offer(
                        self._similarities(left, columns[part]), self.lowest,
                        block.start, panel.start + part.start,
                        by_row.values[block], by_row.indices[block],
                        own.values[part], own.indices[part], bars[part],
                    )  # fmt: skip
                if index == 0 and block.stop < len(self.rows):
                    tell(block.stop)

        def work_or_end(index: int) -> None:
            try:
                work(index)
            finally:
                # After an interrupt the other threads find nothing more to do.
                for _ in blocks:
                    pass

        self.team.run(work_or_end)
        # Whichever thread did the last block.
        tell(len(self.rows))

    def _similarities(self, left: Tensor, right: Tensor) -> npt.NDArray[Any]:
        """Products of all rows with all columns, as integers in their order."""
        if self.precision == torch.int8:
            products: npt.NDArray[np.int32] = torch._int_mm(left, right.T).numpy()
            return products
        bits = (left @ right.T).view(torch.int16 if self.kind is np.int16 else torch.int32).numpy()
        order_bits(bits, self.sign, self.others)
        return bits

    def turned(self) -> "Search":
        """The search of columns among rows."""
        return Search(self.columns, self.rows, self.size, self.team)

    def unseen(self, found: Found) -> Float64:
        """What no product can be above that was computed and not kept, [n]."""
        last = found.values[:, -1]
        if self.precision == torch.int8:
            products: Float64 = last / (self.rows.scale * self.columns.scale)
            return products
        bounds = []
        # A number that was rounded to the last one is not beyond the middle to the next higher one.
        for bits in (last.copy(), last + self.kind(1)):
            order_bits(bits[None], self.sign, self.others)
            bounds.append(torch.from_numpy(bits).view(self.precision).double().numpy())
        return (bounds[0] + bounds[1]) / 2
