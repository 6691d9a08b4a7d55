"""Helpers that write pairs, and what is known of contaminated ones, as steps of the pipeline do."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def write_pairs(
    path: Path, pairs: Sequence[tuple[str, str]], lines: Iterable[int] | None = None, **columns: pa.Array
) -> Path:
    """Write pairs, whose lines are counted from 1 unless they are given, and further columns."""
    table = {
        "source": pa.array([source for source, _ in pairs], pa.string()),
        "target": pa.array([target for _, target in pairs], pa.string()),
        "line": pa.array(lines or range(1, len(pairs) + 1), pa.int64()),
    }
    pq.write_table(pa.table(table | columns), path)
    return path


def marked(path: Path, rows: Sequence[tuple[int, str, str]]) -> Path:
    """Write a table of contaminated rows: (row, test set, kind)."""
    types = {"row": pa.int64(), "testset": pa.string(), "kind": pa.string()}
    columns = [pa.array([row[number] for row in rows], kind) for number, kind in enumerate(types.values())]
    pq.write_table(pa.table(columns, names=list(types)), path)
    return path
