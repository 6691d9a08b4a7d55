"""Test the comparison of a model with the same one in another library."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from small_models import model_of
from test_export_tokenizer import SENTENCES

from paraphrastic.base.errors import InputError
from paraphrastic.interop.parity import TEXT, Other, compare
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.sentencepiece_models import read_model_proto


@pytest.fixture(scope="module")
def model() -> AverageEncoder:
    return model_of()


def other_of(model: AverageEncoder, **changed: Any) -> Other:
    tokens = {"cut": lambda texts: model.processor.encode([text.lower() for text in texts])}
    return Other(**{**tokens, "embed": model.embed_raw_text, "tolerance": 1e-5, "unknown": True, **changed})


def test_differences_are_found(model: AverageEncoder) -> None:
    sentences = SENTENCES[:30] * 50

    def with_nan(texts: Sequence[str]) -> Any:
        vectors = model.embed_raw_text(texts)
        vectors[5, 3] = np.nan
        return vectors

    def shifted(texts: Sequence[str]) -> Any:
        vectors = model.embed_raw_text(texts)
        return np.vstack([vectors[:-1], vectors[:1]]) if len(texts) < 1024 else vectors

    assert compare(model, other_of(model), sentences).apart == []
    # These lines are in the first and the second block.
    assert compare(model, other_of(model, embed=with_nan), sentences).apart == [5, 6, 1029, 1030]
    assert compare(model, other_of(model, embed=shifted), sentences).apart == [1499]
    reverse = other_of(model, cut=lambda texts: [ids[::-1] for ids in other_of(model).cut(texts)])
    assert len(compare(model, reverse, sentences).reordered) == 1500
    without = other_of(model, cut=lambda texts: [ids[1:] for ids in other_of(model).cut(texts)])
    assert len(compare(model, without, sentences).different) > 500
    with pytest.raises(InputError, match=r"those of the model \(30, 48\)"):
        compare(model, other_of(model, embed=lambda texts: np.zeros((len(texts), 3))), SENTENCES[:30])


def test_equal_scores_are_no_difference() -> None:
    model = model_of()
    pieces = {piece: model.processor.piece_to_id(piece) for piece in ("▁the", "▁all", "▁and")}
    proto = read_model_proto(model.processor.serialized_model_proto())
    proto.pieces[pieces["▁all"]].score = proto.pieces[pieces["▁the"]].score + 1e-9
    model.processor.load_from_serialized_proto(proto.SerializeToString())
    for name in ("▁the", "▁all", "▁and"):
        model.known[pieces[name]] = True
    for piece, ties, different in (("▁all", [1], []), ("▁and", [], [1])):
        found = compare(model, other_of(model, cut=lambda texts, p=piece: [[pieces[p]]]), ["the"])
        assert (found.ties, found.different) == (ties, different)


def test_the_text_that_comes_with_the_package_is_of_many_scripts() -> None:
    text = TEXT.read_text(encoding="utf-8")
    for letter in "aßéжωאعहবதก모あ狗İ▁\u1105\u1161\u200e\u2066ℭ\u0323\u202f\u1680\ufe0f🏽":
        assert letter in text
