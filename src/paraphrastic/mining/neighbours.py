"""Nearest neighbours by cosine between two sets of vectors, in both directions at once.

All similarities are computed; none but the highest are kept. First in eight bits or in bfloat16, where the
processor multiplies in them, which is fast and good for two digits: so more candidates are kept than are
asked for, of which the nearest are then chosen by exact cosines. A bound on the rounding says whether
another vector could have been nearer than these; the rows where it could are searched again with more bits.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from paraphrastic.mining.directions import Directions, Factors, slices
from paraphrastic.mining.kernels import Float64, Int32, settle
from paraphrastic.mining.search import Found, Search
from paraphrastic.team import Team
from paraphrastic.training.mining import fastest_precision

Precision = Literal["auto", "int8", "bfloat16", "float32"]

# Candidates that are kept beyond those asked for: at first, where these were too close to tell, and among
# vectors that do not fit into eight bits.
SPARE = 20
MORE_SPARE = 60
OUTLIER_SPARE = 4
# Eight bits are twice as fast as bfloat16 as long as no larger share of the rows is searched again.
WORTHWHILE = 0.4

_PRECISIONS = (torch.int8, torch.bfloat16, torch.float32)
# Rows whose candidates are settled at a time.
_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The k nearest neighbours of n vectors, nearest first; of equally near ones, first the lower index.

    Attributes:
        indices: int32 [n, k].
        cosines: [n, k].
    """

    indices: Int32
    cosines: Float64


def nearest_neighbours(
    x: Directions,
    y: Directions,
    k: int,
    *,
    threads: int = 1,
    precision: Precision = "auto",
    progress: Callable[[float], None] | None = None,
) -> tuple[Neighbours, Neighbours]:
    """The k nearest neighbours in `y` of each of `x`, and those in `x` of each of `y`, by cosine.

    A set of fewer than k has them all as neighbours. Where more than `SPARE` vectors are as near as the k-th
    neighbour to 1e-4, those are taken that are nearest in float32.

    Args:
        x: n directions, one at least.
        y: m directions, one at least, of the same dimension.
        k: neighbours.
        threads: of the processor; their number does not change the result.
        precision: of the first search: auto is that in which the processor multiplies fastest. It does not
            change the result.
        progress: is told the share of the first search that is done, now and then.
    """
    kept = torch.get_num_threads()
    # Each thread multiplies its own blocks.
    torch.set_num_threads(1)
    try:
        with closing(Team(threads)) as team:
            chosen = _fastest(x, y, k, team) if precision == "auto" else getattr(torch, precision)
            left, right = Factors(x, chosen), Factors(y, chosen)
            search = Search(left, right, k + SPARE, team, progress)
            by_row, by_column = search.both()
            of_x, of_y = left.rounding(team), right.rounding(team)
            more = _PRECISIONS[_PRECISIONS.index(chosen) + 1 :]
            return (
                _settled(x, y, k, _candidates(search, by_row, of_x, of_y, k), more, team),
                _settled(y, x, k, _candidates(search.turned(), by_column, of_y, of_x, k), more, team),
            )
    finally:
        torch.set_num_threads(kept)


def _fastest(x: Directions, y: Directions, k: int, team: Team) -> torch.dtype:
    """The precision in which the search is fastest: eight bits are not if most rows are searched again."""
    fastest: torch.dtype = getattr(torch, fastest_precision())
    if fastest == torch.int8:
        sample = x[np.linspace(0, len(x) - 1, min(len(x), _BLOCK)).astype(np.int32)]
        neighbours, bounds = _searched(sample, y, k, fastest, k + SPARE, team)
        if (neighbours.cosines[:, -1] <= bounds).mean() > WORTHWHILE:
            return torch.bfloat16
    return fastest


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Indices of candidates, [r, K], and what the cosine of no other one can be above, [r]."""

    indices: Int32
    bounds: Float64


def _candidates(
    search: Search, found: Found, row_rounding: Float64, column_rounding: Float64, k: int
) -> _Candidates:
    """What a search found, and among columns that do not fit into its precision what another one finds.

    |u·v − u'·v'| is at most |u − u'| |v| + |u'| |v − v'|, and sums of products of unit vectors are within
    2^-23 · dim.
    """
    columns = search.columns
    if len(columns) <= search.size:
        return _Candidates(found.indices, np.full(len(found.indices), -np.inf))
    slack = 2.0**-23 * columns.directions.dim
    largest = np.delete(column_rounding, columns.outliers).max(initial=0)
    bounds = search.unseen(found) + (1 + row_rounding) * (1 + largest) - 1 + slack
    if not len(columns.outliers):
        return _Candidates(found.indices, bounds)
    rows, outlying = search.rows.directions, columns.directions[columns.outliers]
    among = Search(
        Factors(rows, torch.float32), Factors(outlying, torch.float32), k + OUTLIER_SPARE, search.team
    )
    others = among.one_way()
    if len(columns.outliers) > among.size:
        bounds = np.maximum(bounds, among.unseen(others) + slack)
    indices = np.where(others.indices < 0, np.int32(-1), columns.outliers[others.indices])
    return _Candidates(np.concatenate([found.indices, indices], axis=1), bounds)


def _settled(
    x: Directions, y: Directions, k: int, candidates: _Candidates, more: Sequence[torch.dtype], team: Team
) -> Neighbours:
    """The nearest of the candidates, or of a search with more bits, where another one may be as near."""
    rows = np.arange(len(x), dtype=np.int32)
    neighbours, bounds = _nearest(x, y, k, candidates.indices, team), candidates.bounds
    for precision in more:
        rows = rows[neighbours.cosines[rows, -1] <= bounds]
        if not len(rows):
            break
        found, bounds = _searched(x[rows], y, k, precision, k + MORE_SPARE, team)
        neighbours.indices[rows], neighbours.cosines[rows] = found.indices, found.cosines
    return neighbours


def _searched(
    x: Directions, y: Directions, k: int, precision: torch.dtype, size: int, team: Team
) -> tuple[Neighbours, Float64]:
    """The nearest of so many candidates each, and what the cosine of no other one can be above, [n]."""
    left, right = Factors(x, precision), Factors(y, precision)
    search = Search(left, right, size, team)
    candidates = _candidates(search, search.one_way(), left.rounding(team), right.rounding(team), k)
    return _nearest(x, y, k, candidates.indices, team), candidates.bounds


def _nearest(x: Directions, y: Directions, k: int, candidates: Int32, team: Team) -> Neighbours:
    """The k nearest of the candidates, [n, K], by exact cosines."""
    k = min(k, len(y))
    found = Neighbours(np.full((len(x), k), -1, np.int32), np.zeros((len(x), k)))
    blocks = iter(slices(len(x), _BLOCK))

    def work(_: int) -> None:
        for block in blocks:
            settle(
                x.entries[block], x.norms[block], y.entries, y.norms, candidates[block],
                found.indices[block], found.cosines[block],
            )  # fmt: skip

    team.run(work)
    return found
