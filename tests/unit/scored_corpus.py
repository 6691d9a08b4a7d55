"""A helper that writes scored pairs."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic_pipeline.corpus.score import SCORED_SCHEMA


def write_scored(path: Path, pairs: list[tuple[str, str]], scores: list[float | None] | None = None) -> Path:
    columns = {
        "source": [source for source, _ in pairs],
        "target": [target for _, target in pairs],
        "line": list(range(1, len(pairs) + 1)),
        "source_tokens": [len(source.split()) for source, _ in pairs],
        "target_tokens": [len(target.split()) for _, target in pairs],
        "paraphrase_score": scores or [None] * len(pairs),
    }
    arrays = [pa.array(columns.get(f.name, [None] * len(pairs)), f.type) for f in SCORED_SCHEMA]
    pq.write_table(pa.Table.from_arrays(arrays, schema=SCORED_SCHEMA), path)
    return path
