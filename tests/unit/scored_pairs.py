"""A helper that makes scored pairs."""

import pyarrow as pa

from paraphrastic_pipeline.corpus.score import SCORED_SCHEMA

PAPER = {
    "length": {"min": 5, "max": 40, "count": "mean"},
    "language": {"rule": "best", "min_probability": 0.1},
    "trigram_overlap": {"min": -1.0, "max": 0.7},
    "paraphrase_score": {"min": 0.4, "max": 1.0},
}


def block(**columns) -> pa.RecordBatch:
    """Return scored pairs; columns that are not given get values that every filter accepts."""
    size = len(next(iter(columns.values())))
    rows = {
        "source": [f"source {n}" for n in range(size)],
        "target": [f"target {n}" for n in range(size)],
        "line": list(range(1, size + 1)),
        "source_tokens": [10] * size,
        "target_tokens": [10] * size,
        "source_characters": [0] * size,
        "target_characters": [0] * size,
        "source_language": ["en"] * size,
        "target_language": ["en"] * size,
        "source_confidence": [0.9] * size,
        "target_confidence": [0.9] * size,
        "source_probability": [0.9] * size,
        "target_probability": [0.9] * size,
        "trigram_overlap": [0.2] * size,
        "changed_words": [5] * size,
        "paraphrase_score": [0.8] * size,
        "translation_score": [None] * size,
        **columns,
    }
    arrays = [pa.array(rows[field.name], field.type) for field in SCORED_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCORED_SCHEMA)
