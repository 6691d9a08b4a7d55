"""Random samples from a stream of unknown length."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

# Number of rows of each kind in a sample for people to read.
EXAMPLES = 20


class Samples:
    """Count a stream's rows by kind, and draw a random sample of 20 rows of each kind.

    Each row gets a random key, and a sample consists of its kind's rows with the smallest keys. It therefore
    does not depend on how the rows were divided into blocks.
    """

    def __init__(self, kinds: Sequence[Any], seed: int) -> None:
        self.read = 0
        self.counts = dict.fromkeys(kinds, 0)
        self._kept: dict[Any, list[tuple[float, dict[str, Any]]]] = {kind: [] for kind in kinds}
        self._random = np.random.default_rng(seed)

    def add(self, block: pa.RecordBatch, kinds: npt.NDArray[np.intp]) -> None:
        """Add a block; `kinds` is each row's index into the list of kinds, or -1 for no kind."""
        self.read += block.num_rows
        keys = self._random.random(block.num_rows)
        for number, (kind, kept) in enumerate(self._kept.items()):
            rows = np.flatnonzero(kinds == number)
            self.counts[kind] += len(rows)
            bound = kept[-1][0] if len(kept) == EXAMPLES else np.inf
            rows = rows[keys[rows] < bound]
            rows = rows[np.argsort(keys[rows], kind="stable")[:EXAMPLES]]
            kept.extend(zip(keys[rows].tolist(), block.take(pa.array(rows)).to_pylist(), strict=True))
            kept.sort(key=itemgetter(0))
            del kept[EXAMPLES:]

    def rows(self, *columns: str) -> list[tuple[Any, dict[str, Any]]]:
        """The kind and the cells of each sampled row, by kind and then by these columns."""
        rows = [(kind, row) for kind, kept in self._kept.items() for _, row in kept]
        kinds = [*self._kept]
        return sorted(rows, key=lambda pair: (kinds.index(pair[0]), *map(pair[1].get, columns)))
