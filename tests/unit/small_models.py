"""Small models with random numbers and the texts that they are tested with."""

import io
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece

from paraphrastic.model.architecture import Architecture
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.composite import CompositeEncoder
from paraphrastic.model.files import tensor_name

# Sentences in many languages and scripts. The last eight, which no model here is trained on, have a long text
# and rare characters.
SENTENCES = Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8").split("\n")
LOWER = {"folding": {}, "lowercase": True, "unit": "subword"}
LONG = "the word again and " * 400
# A character that the vocabulary lacks. If `add_dummy_prefix` is false, a text of nothing else has no piece.
STRANGE = "ꙮ"


def trained(
    sentences: Sequence[str] = SENTENCES[:-8], **options: Any
) -> sentencepiece.SentencePieceProcessor:
    """A sentencepiece model of sentences, trained once for all tests of a process."""
    return sentencepiece.SentencePieceProcessor(model_proto=_trained(tuple(sentences), json.dumps(options)))


@cache
def _trained(sentences: tuple[str, ...], options: str) -> bytes:
    model = io.BytesIO()
    settings = {"vocab_size": 900, "hard_vocab_limit": False, "character_coverage": 0.99}
    settings |= json.loads(options)
    lines = [line.lower() for line in sentences] * 3
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, minloglevel=2, num_threads=1, **settings
    )
    return model.getvalue()


def model_of(
    processor: sentencepiece.SentencePieceProcessor | None = None, *, gaps: bool = True, **options: Any
) -> AverageEncoder:
    """A model with random numbers; with `gaps`, training never saw some of its pieces."""
    config = {**LOWER, "model": "en", "segmentation": {}, "languages": ["en"], **options.pop("config", {})}
    config = {"corpora": {}, "teachers": {}, "commercial_use": "unknown", "training": {}, **config}
    processor = processor or trained(**options)
    generator = np.random.default_rng(0)
    pieces = processor.get_piece_size()
    known = generator.random(pieces) < (0.9 if gaps else 1)
    known[: processor.unk_id() + 1] = False
    table = (generator.normal(size=(pieces, 48)) * known[:, None]).astype(np.float32)
    unknown = generator.normal(size=48).astype(np.float32)
    tensors = {"embeddings": table, "known": known, "unknown": unknown}
    return AverageEncoder(tensors, processor.serialized_model_proto(), config)


def two_parts_of(architecture: Architecture, **more: Any) -> CompositeEncoder:
    """A model with two parts of these tables, and `more` tensors, for each of two languages."""
    whole, languages = model_of(), ["en", "de"]
    own = {"known.subword": whole.known, **more}
    for part in ("0", "1"):
        own |= {f"{part}.embeddings": whole.embeddings, f"{part}.unknown": whole.unknown}
    tensors = {tensor_name(name, code): value for name, value in own.items() for code in languages}
    if architecture.vocabularies == "separate":
        tensors["sentencepiece.subword.de"] = np.frombuffer(whole.sentencepiece, np.uint8)
    config = {**whole.config, "languages": languages, "architecture": architecture.to_json()}
    return CompositeEncoder(tensors, whole.sentencepiece, config)
