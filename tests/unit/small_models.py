"""Models with random numbers, for tests of exports and of files from strangers."""

from typing import Any

import numpy as np
from test_export_tokenizer import LOWER, trained

from paraphrastic.model.architecture import Architecture
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.composite import CompositeEncoder
from paraphrastic.model.files import tensor_name

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


def two_parts_of(architecture: Architecture, **more: Any) -> CompositeEncoder:
    """Return a model with two parts of these tables, and `more` tensors, for each of two languages."""
    whole, languages = model_of(), ["en", "de"]
    own = {"known.subword": whole.known, **more}
    for part in ("0", "1"):
        own |= {f"{part}.embeddings": whole.embeddings, f"{part}.unknown": whole.unknown}
    tensors = {tensor_name(name, code): value for name, value in own.items() for code in languages}
    if architecture.vocabularies == "separate":
        proto = whole.processor.serialized_model_proto()
        tensors["sentencepiece.subword.de"] = np.frombuffer(proto, np.uint8)
    config = {**whole.config, "languages": languages, "architecture": architecture.to_json()}
    return CompositeEncoder(tensors, whole.processor, config)
