"""Test the comparison of a model with the same one in another library."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from small_models import STRANGE, model_of
from test_export_tokenizer import SENTENCES

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import prepare_text
from paraphrastic.interop.parity import TEXT, Other, compare
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.sentencepiece_models import read_model_proto


@pytest.fixture(scope="module")
def model() -> AverageEncoder:
    return model_of()


def other_of(model: AverageEncoder, **changed: Any) -> Other:
    tokens = {"cut": lambda texts: model.processor.encode(prepare_text(texts, lowercase=True))}
    return Other(**{**tokens, "embed": model.embed_raw_text, "tolerance": 1e-5, "unknown": True, **changed})


def test_differences_are_found(model: AverageEncoder) -> None:
    sentences = SENTENCES[:30] * 50

    def with_nan(texts: Sequence[str]) -> Any:
        vectors = model.embed_raw_text(texts)
        vectors[5, 3] = np.nan
        return vectors

    def turned(texts: Sequence[str]) -> Any:
        # All cosines among these vectors are the same as here.
        return model.embed_raw_text(texts)[:, ::-1]

    longer = other_of(model, embed=lambda texts: 3 * model.embed_raw_text(texts))
    assert compare(model, longer, sentences).apart == []
    # These lines are in the first and the second block.
    assert compare(model, other_of(model, embed=with_nan), sentences).apart == [6, 1030]
    assert compare(model, other_of(model, embed=turned), ["the human", "", "free"]).apart == [1, 3]
    one = compare(model, other_of(model), ["the human"])
    one.check("text", "the library")
    assert one.vectors == 1
    reverse = other_of(model, cut=lambda texts: [ids[::-1] for ids in other_of(model).cut(texts)])
    assert len(compare(model, reverse, sentences).reordered) == 1500
    without = other_of(model, cut=lambda texts: [ids[1:] for ids in other_of(model).cut(texts)])
    assert len(compare(model, without, sentences).different) > 500
    with pytest.raises(InputError, match=r"those of the model \(30, 48\)"):
        compare(model, other_of(model, embed=lambda texts: np.zeros((len(texts), 3))), SENTENCES[:30])


def test_equal_scores_are_no_difference_if_the_text_is_the_same() -> None:
    model = model_of()
    the, other, *letters = ids = model.processor.piece_to_id(["▁the", "▁all", "▁", "t", "h", "e"])
    proto = read_model_proto(model.processor.serialized_model_proto())
    proto.pieces[other].score = proto.pieces[the].score + 1e-9
    for letter in letters:
        proto.pieces[letter].score = proto.pieces[the].score / len(letters)
    model.processor.load_from_serialized_proto(proto.SerializeToString())
    model.known[ids] = True
    equal = letters if model.processor.encode("the") == [the] else [the]
    for pieces, ties, different in ((equal, [1], []), ([other], [], [1]), ([*equal, the], [], [1])):
        found = compare(model, other_of(model, cut=lambda texts, p=pieces: [p]), ["the"])
        assert (found.ties, found.different) == (ties, different)


def test_other_bytes_are_no_tie() -> None:
    model = model_of(byte_fallback=True, vocab_size=1156)
    model.known[:] = True
    wrong = other_of(
        model, cut=lambda texts: model.processor.encode([text.replace("犭", "犮") for text in texts])
    )
    assert compare(model, wrong, ["犭", "犭 the"]).different == [1, 2]


def test_a_comparison_of_nothing_fails() -> None:
    model = model_of(add_dummy_prefix=False)
    zero = other_of(model, unknown=False, cut=lambda texts: model.processor.encode(texts))
    with pytest.raises(InputError) as error:
        compare(model, zero, ["", STRANGE, " "]).check("the text", "the library")
    assert str(error.value) == (
        "the text: has no sentence whose vector can be compared with the library (without text: 2 (line "
        "1, 3); with unknown pieces only, which are zero there: 1 (line 2)); give a text with other sentences"
    )
    with pytest.raises(InputError, match="contains no sentence"):
        compare(model, zero, []).check("the text", "the library")


def test_the_text_that_comes_with_the_package_is_of_many_scripts() -> None:
    text = TEXT.read_text(encoding="utf-8")
    for letter in "aßéжωאعहবதก모あ狗İ▁\u1105\u1161\u200e\u2066ℭ\u0323\u202f\u1680\ufe0f🏽":
        assert letter in text
