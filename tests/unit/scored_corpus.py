"""Helpers that make and write scored pairs."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic_pipeline.corpus.score import SCORED_SCHEMA

PAPER = {
    "length": {"min": 5, "max": 40, "count": "mean"},
    "language": {"rule": "best", "min_probability": 0.1},
    "trigram_overlap": {"min": -1.0, "max": 0.7},
    "paraphrase_score": {"min": 0.4, "max": 1.0},
}
ACCEPTED = {
    **dict.fromkeys(("source_tokens", "target_tokens"), 10),
    **dict.fromkeys(("source_characters", "target_characters"), 0),
    **dict.fromkeys(("source_language", "target_language"), "en"),
    **dict.fromkeys(("source_confidence", "target_confidence"), 0.9),
    **dict.fromkeys(("source_probability", "target_probability"), 0.9),
    "trigram_overlap": 0.2,
    "changed_words": 5,
    "paraphrase_score": 0.8,
    "translation_score": None,
}


def block(**columns) -> pa.RecordBatch:
    """Return scored pairs; columns that are not given get values that every filter accepts."""
    size = len(next(iter(columns.values())))
    rows = {
        "source": [f"source {n}" for n in range(size)],
        "target": [f"target {n}" for n in range(size)],
        "line": range(1, size + 1),
        **{name: [value] * size for name, value in ACCEPTED.items()},
        **columns,
    }
    arrays = [pa.array(rows[field.name], field.type) for field in SCORED_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCORED_SCHEMA)


def write_scored(path: Path, pairs: list[tuple[str, str]], scores: list[float | None] | None = None) -> Path:
    sides = {"source": [source for source, _ in pairs], "target": [target for _, target in pairs]}
    tokens = {f"{side}_tokens": [len(text.split()) for text in texts] for side, texts in sides.items()}
    scored = block(**sides, **tokens, paraphrase_score=scores or [None] * len(pairs))
    pq.write_table(pa.Table.from_batches([scored]), path)
    return path
