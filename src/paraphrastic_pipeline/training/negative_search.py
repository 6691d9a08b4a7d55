"""The search for negatives among all pairs of sentences on a processor, block by block."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraphrastic.base.arrays import Int32, Int64
from paraphrastic_pipeline.training.negative_kernels import Barred, Found, order_bits, scan

NO_NEGATIVE = -1
# Rows and columns of the similarity matrix that a thread holds at a time; they should fit into its cache.
SIMILARITY_ROWS = 256
BLOCK_COLUMNS = 1024

# Numbers below all similarities, in the types that `similarities` returns.
LOWEST: dict[torch.dtype, Any] = {
    torch.float32: np.float32(-np.inf),
    torch.bfloat16: np.int16(-0x8000),
    torch.int8: np.int32(-0x80000000),
}


class Search:
    """The search on the processor, block by block, which several threads share.

    Each row belongs to one thread, but all threads share the columns, so each has its own results for them.
    """

    def __init__(self, vectors: Tensor, barred: Barred, *, threads: int, either_side: bool) -> None:
        n = len(vectors) // 2
        sources, targets = vectors[:n], vectors[n:]
        size = max(1, min(SIMILARITY_ROWS, -(-n // 8)))
        self.sides, self.barred, self.either_side = (sources, targets), barred, either_side
        self.lowest = LOWEST[sources.dtype]
        self.blocks = [slice(start, min(n, start + size)) for start in range(0, n, size)]
        # For the sources among the targets, for the targets among the sources, and for all on their own side.
        self.by_row = self._nothing(n)
        self.by_column = [self._nothing(n) for _ in range(threads)]
        self.on_own_side = [self._nothing(n) for _ in self.sides]

    def run(self, thread: int) -> None:
        """Search the blocks of a thread."""
        n = len(self.sides[0])
        for rows in self.blocks[thread :: len(self.by_column)]:
            for first in range(0, n, BLOCK_COLUMNS):
                columns = slice(first, min(n, first + BLOCK_COLUMNS))
                # One product serves both directions, along rows and along columns.
                self._offer(rows, columns, (0, 1), self.by_row, self.by_column[thread])
                if self.either_side:
                    for side, best in enumerate(self.on_own_side):
                        self._offer(rows, columns, (side, side), best, self._nothing(0))

    def negatives(self) -> Int64:
        """The negatives of all sentences, int64 [2n], after all threads have run."""
        n = len(self.sides[0])
        # Each thread has searched its own rows; of equally similar sentences, the first one wins.
        values, negatives = (np.stack(arrays) for arrays in zip(*self.by_column, strict=True))
        highest = values.max(axis=0)
        negatives = np.where((values == highest) & (negatives >= 0), negatives, 2 * n).min(axis=0)
        negatives[negatives == 2 * n] = NO_NEGATIVE
        values, negatives = np.append(self.by_row[0], highest), np.append(self.by_row[1], negatives)
        own_values, own_negatives = (np.concatenate(arrays) for arrays in zip(*self.on_own_side, strict=True))
        return np.where(own_values > values, own_negatives, negatives)

    def _offer(
        self, rows: slice, columns: slice, sides: tuple[int, int], by_row: Found, by_column: Found
    ) -> None:
        """Offer the sentences of `columns` to those of `rows`, which are on these sides, and the reverse."""
        left, right = sides
        similarity = similarities(self.sides[left][rows], self.sides[right][columns])
        offset = right * len(self.sides[0])
        scan(similarity, self.lowest, rows.start, columns.start, offset, self.barred, by_row, by_column)

    def _nothing(self, size: int) -> Found:
        return np.full(size, self.lowest), np.full(size, NO_NEGATIVE, np.int64)


def similarities(rows: Tensor, columns: Tensor) -> npt.NDArray[Any]:
    """Similarities of all rows to all columns, as numbers that sort as the similarities do."""
    if rows.dtype == torch.int8:
        products: Int32 = torch._int_mm(rows, columns.T).numpy()
        return products
    similarity = rows @ columns.T
    if similarity.dtype == torch.float32:
        return similarity.numpy()
    bits = similarity.view(torch.int16).numpy()
    order_bits(bits)
    return bits
