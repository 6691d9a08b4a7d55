"""Helpers that write pairs, their scores, and which are contaminated, as steps of the pipeline do."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic_pipeline.corpus.score import SCORED_SCHEMA
from paraphrastic_pipeline.settings.faults import keys_of
from paraphrastic_pipeline.settings.sections.selection import ParaphraseSelection

PAPER = {
    "length": {"min": 5, "max": 40, "count": "mean"},
    "language": {"rule": "best", "min_probability": 0.1},
    "trigram_overlap": {"min": -1.0, "max": 0.7},
    "paraphrase_score": {"min": 0.4, "max": 1.0},
}
# Values that every filter accepts, by their type.
ACCEPTED = {"int32": 10, "string": "en", "float": 0.9, "double": 0.8}
OTHERS = {"source_characters": 0, "target_characters": 0, "trigram_overlap": 0.2, "translation_score": None}


def settings_of(values: Mapping[str, Any]) -> Any:
    """Settings with the values as attributes, at every depth."""
    return json.loads(json.dumps(values), object_hook=lambda each: SimpleNamespace(**each))


def selection_of(filters: Mapping[str, Any]) -> dict[str, Any]:
    """A selection with these filters alone."""
    return {name: None for name in keys_of(ParaphraseSelection)} | {**filters}


def scored(**columns: Any) -> pa.RecordBatch:
    """Scored pairs; columns that are not given get values that every filter accepts."""
    size = len(next(iter(columns.values())))
    rows = {
        "source": [f"source {n}" for n in range(size)],
        "target": [f"target {n}" for n in range(size)],
        "line": range(1, size + 1),
        **columns,
    }
    for name, kind in zip(SCORED_SCHEMA.names, SCORED_SCHEMA.types, strict=True):
        if name not in rows:
            rows[name] = [OTHERS.get(name, ACCEPTED[str(kind)])] * size
    return pa.RecordBatch.from_pydict(rows, schema=SCORED_SCHEMA)


def write_shards(folder: Path, pairs: pa.RecordBatch, ends: Sequence[int]) -> list[Path]:
    """Write pairs into files that end before the rows `ends`, and the last one at the end."""
    files = []
    for start, end in zip([0, *ends], [*ends, len(pairs)], strict=True):
        files.append(folder / f"shard{len(files)}.parquet")
        pq.write_table(pa.Table.from_batches([pairs.slice(start, end - start)]), files[-1])
    return files


def write_pairs(
    path: Path,
    pairs: Sequence[tuple[str, str]],
    lines: Iterable[int] | None = None,
    row_groups: int | None = None,
    **columns: pa.Array,
) -> Path:
    """Write pairs, whose lines are counted from 1 unless they are given, and further columns."""
    table = {
        "source": pa.array([source for source, _ in pairs], pa.string()),
        "target": pa.array([target for _, target in pairs], pa.string()),
        "line": pa.array(lines or range(1, len(pairs) + 1), pa.int64()),
    }
    pq.write_table(pa.table(table | columns), path, row_group_size=row_groups)
    return path


def marked(path: Path, rows: Sequence[tuple[int, str, str]]) -> Path:
    """Write a table of contaminated rows: (row, test set, kind)."""
    types = {"row": pa.int64(), "testset": pa.string(), "kind": pa.string()}
    columns = [pa.array([row[number] for row in rows], kind) for number, kind in enumerate(types.values())]
    pq.write_table(pa.table(columns, names=list(types)), path)
    return path


class FilterFiles(NamedTuple):
    """What a step that leaves pairs out writes."""

    pairs: Path
    counts: Path
    examples: Path


def filter_files(folder: Path) -> FilterFiles:
    return FilterFiles(*(folder / name for name in ("out.parquet", "counts.json", "examples.tsv")))


def read_tsv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
