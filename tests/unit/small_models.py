"""Averages with random numbers, for tests of exports."""

from typing import Any

import numpy as np
from test_export_tokenizer import LOWER, trained

from paraphrastic.model.average import AverageEncoder

LONG = "the word again and " * 400
# A character that the vocabulary lacks. If `add_dummy_prefix` is false, a text of nothing else has no piece.
STRANGE = "ꙮ"


def model_of(**options: Any) -> AverageEncoder:
    """Return a model with random numbers; training never saw some of its pieces."""
    config = {**LOWER, "model": "en", "segmentation": {}, "languages": ["en"], **options.pop("config", {})}
    processor = trained(**options)
    generator = np.random.default_rng(0)
    pieces = processor.get_piece_size()
    known = generator.random(pieces) < 0.9
    known[: processor.unk_id() + 1] = False
    table = (generator.normal(size=(pieces, 48)) * known[:, None]).astype(np.float32)
    return AverageEncoder(table, known, generator.normal(size=48).astype(np.float32), processor, config)
