"""Vectors as short integers, whose products say which pairs of vectors can be near.

The product of two codes is never below the cosine of their vectors: what rounding and, where only the leading
dimensions are kept, the rest of the vectors could add is part of it (by Cauchy and Schwarz). So pairs whose
product is below a bar need not be compared, and those that are left are few.
"""

from dataclasses import dataclass

import numpy as np

from paraphrastic.base.threads import Workers
from paraphrastic.search.directions import Directions
from paraphrastic.search.kernels import (
    ABSENT,
    HIGHEST,
    Codes,
    Float64,
    Int32,
    Int64,
    UInt32,
    encode,
    normalize,
    pack,
)
from paraphrastic.search.parts import share, slices
from paraphrastic.search.plans import Plan
from paraphrastic.search.tiles import WIDTH

# Vectors that are prepared at a time, and by each thread.
_BLOCK = 2048
_PART = 512


@dataclass(frozen=True, slots=True)
class Columns:
    """Codes as a tile reads columns.

    Attributes:
        panels: uint32 [panels, words, WIDTH].
        more: int32 [panels · WIDTH], added to the products; `ABSENT` beyond the columns.
    """

    panels: UInt32
    more: Int32

    def bars(self, count: int) -> Int32:
        """Bars, int32 [panels · WIDTH]: all products of the first `count` columns are above, no others."""
        bars = np.full(len(self.more), HIGHEST)
        bars[:count] = -HIGHEST
        return bars


class Sketch:
    """The codes of n vectors.

    Attributes:
        plan: how they were made.
        codes: [n, numbers], uint8 or int16; bytes have 128 added.
        more: int32 [n], to be added to products of the vectors as rows, so that none is below its cosine.
    """

    def __init__(self, n: int, plan: Plan) -> None:
        kind, per_word = (np.uint8, 4) if plan.in_bytes else (np.int16, 2)
        self.plan = plan
        self.codes: Codes = np.empty((n, plan.words * per_word), kind)
        self.more = np.zeros(n, np.int32)
        self._sums, self._distances = np.zeros(n, np.int32), np.zeros(n)

    @classmethod
    def of(cls, directions: Directions, plan: Plan, workers: Workers) -> "Sketch":
        """Of directions, made by all threads."""
        sketch = cls(len(directions), plan)
        for block in slices(len(directions), _BLOCK):
            sketch._fill(block, directions[block], workers)
        return sketch

    def __len__(self) -> int:
        return len(self.codes)

    def _fill(self, block: slice, directions: Directions, workers: Workers) -> None:
        units = np.empty((len(directions), directions.dim), np.float32)
        parts = slices(len(units), _PART)
        share(
            workers,
            parts,
            lambda part, _: normalize(directions.entries[part], directions.norms[part], units[part]),
        )
        plan, kept, rests = self.plan, units, np.zeros(len(units), np.float32)
        longer = rests
        if plan.basis is not None:
            kept = units @ plan.basis
            left = np.maximum(1 - np.einsum("np,np->n", kept, kept, dtype=np.float64), 0)
            rests = np.where(directions.norms > 0, np.sqrt(left + 3 * plan.slack), 0).astype(np.float32)
            longer = np.maximum(rests - np.float32(plan.rest), 0)
            rests -= longer
        codes, sums, distances = self.codes[block], self._sums[block], self._distances[block]

        def encode_part(part: slice, _: int) -> None:
            encode(kept[part], rests[part], plan.unit, plan.guards, codes[part], sums[part], distances[part])

        share(workers, parts, encode_part)
        # |u·v − u'·v'| is at most |u − u'| |v| + |u'| |v − v'|: a part of the rows, and one of the columns.
        distances *= 1 + 1e-4 + plan.slack
        # As the product of two rests is, of which this is what their guards do not cover.
        distances += longer
        self.more[block] = np.ceil((distances + 4 * plan.slack) / plan.product_unit)

    def columns(self, rows: Int64) -> Columns:
        """The vectors with these indices, as columns."""
        plan = self.plan
        count = -(-len(rows) // WIDTH)
        panels = np.zeros((count, plan.words, WIDTH), np.uint32)
        pack(self.codes.view(np.uint32), rows, np.uint32(0x80808080 if plan.in_bytes else 0), panels)
        longest = 1 + plan.unit * (plan.kept**0.5) / 2 + plan.slack
        more = np.full(count * WIDTH, ABSENT)
        more[: len(rows)] = np.ceil(self._distances[rows] * longest / plan.product_unit)
        if plan.in_bytes:
            more[: len(rows)] -= 128 * self._sums[rows]
        return Columns(panels, more)


def bounds(rows: Sketch, columns: Sketch) -> Float64:
    """What no cosine of two vectors is above, [rows, columns], of sketches by the same plan."""
    offset = np.float32(128 if rows.plan.in_bytes else 0)
    products = (rows.codes - offset) @ (columns.codes - offset).T
    more = columns.columns(np.arange(len(columns))).more[: len(columns)].astype(np.float64)
    if rows.plan.in_bytes:
        more += 128 * columns._sums
    cosines: Float64 = (products + rows.more[:, None] + more) * rows.plan.product_unit
    return cosines
