"""Test the preparation of text beside plain descriptions of it, over all of Unicode and in random text."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.base.text import clean, is_chinese, prepare_text, visible
from paraphrastic.interop.text_patterns import PYTHON, cleaning
from paraphrastic.model.units import spell

# Unicode's property Default_Ignorable_Code_Point (DerivedCoreProperties.txt), and marks of annotations.
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
EVERY = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def plain_visible(text: str) -> str:
    text = "".join(
        " " if unicodedata.category(letter) == "Cc" or letter == "\u200b" else letter for letter in text
    )
    return IGNORABLE.sub("", text)


def test_every_character_is_seen_as_unicode_says() -> None:
    assert visible(EVERY) == [plain_visible(letter) for letter in EVERY]
    # The tables of patterns are the same ones.
    text = "".join(EVERY)
    for pattern, other in cleaning(PYTHON):
        text = re.sub(pattern, other, text)
    assert text == plain_visible("".join(EVERY))


odd = st.text(
    st.one_of(
        st.characters(codec="utf-8"), st.sampled_from("aΣσİIıёЁ \u00ad\u200b\u200d\ufe0f\t\x85ـ\u064b狗犬")
    )
)


@settings(max_examples=300, deadline=None)
@given(texts=st.lists(odd, max_size=80), lowercase=st.booleans())
def test_text_is_prepared_as_described(texts: list[str], lowercase: bool) -> None:
    prepared = prepare_text(texts, lowercase=lowercase)
    assert prepared == [plain_visible(text).lower() if lowercase else plain_visible(text) for text in texts]
    # Nothing that a tokenizer, a line or a cell would take for something else is left.
    assert not re.search("[\x00-\x1f\x7f-\x9f]", "".join(prepared))
    folded = prepare_text(texts, folding={"ru": "yo", "tr": "dotless", "ar": "marks"})
    assert not re.search("[ёЁİıI\u0640\u064b]", "".join(folded))


@pytest.mark.parametrize(
    ("folding", "text", "folded"),
    [
        ({"ar": "marks"}, "مُحَمَّد ٱ", "محمد ا"), ({"ru": "yo"}, "Ёж е\u0308 ёлка", "Еж е елка"),
        ({"tr": "dotted"}, "İI", "iI"),
        ({"tr": "dotless"}, "İIı", "iii"), ({"tr": "none", "ru": "none"}, "Ёİ", "Ёİ"),
        ({}, "e\u0301", "e\u0301"),
    ],
)  # fmt: skip
def test_folding(folding: dict[str, str], text: str, folded: str) -> None:
    assert prepare_text([text], folding=folding) == [folded]


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("我来到北京", True), ("我用Windows", True), ("今天 5 度", True), ("𠮷", True), ("", False),
        ("12 %", False), ("don't 中", False), ("He wrote 中 on the wall", False), ("日本語です", False),
        ("ｶﾀｶﾅ 漢字", False), ("中한국", False), ("大學生活ㅋㅋㅋ", False), ("㈜大韓航空", False),
        ("漢字漢字ꥠ", False), ("ㇰㇱ漢字漢字", False), ("𛀁漢字漢字", False), ("株式会社㋐", False),
        ("㌀漢字", False), ("ภาษา", False),
    ],
)  # fmt: skip
def test_which_text_is_chinese(text: str, chinese: bool) -> None:
    assert is_chinese(text) == chinese


def test_chinese_is_segmented_if_it_is_chinese() -> None:
    pytest.importorskip("jieba")
    segmentation = {"zh": "accurate"}
    texts = ["我来到北京清华大学", "A dog.", "T恤"]
    assert prepare_text(texts, segmentation=segmentation, lowercase=True) == [
        "我 来到 北京 清华大学",
        "a dog.",
        "t 恤",
    ]
    assert prepare_text(texts[:1], segmentation={"zh": "full"}) == ["我 来到 北京 清华 清华大学 华大 大学"]
    assert prepare_text(texts, segmentation=segmentation, language="ja") == texts
    assert prepare_text(texts[1:2], segmentation=segmentation, language="zh") == ["A dog ."]
    with pytest.raises(InputError, match="ja"):
        prepare_text(["x"], segmentation={"ja": "accurate"}, language="ja")


@pytest.mark.parametrize(
    ("unit", "text", "spelled"),
    [
        ("word", " (hello!)  it's 3.5% ", "( hello ! ) it's 3.5 %"),
        ("trigram", "to be", "␠to to␠ o␠b ␠be be␠"),
        ("trigram", "", ""), ("subword", " as is ", " as is "), ("word", "...", ". . ."),
    ],
)  # fmt: skip
def test_units(unit: str, text: str, spelled: str) -> None:
    assert spell([text], unit) == [spelled]


def test_cells_have_no_control_characters() -> None:
    assert clean("a\tb\nc\x85d\u2028e\u00a0f") == "a b c d\u2028e\u00a0f"


def test_what_nobody_sees_changes_no_vector() -> None:
    model = load_model("en-de-es-fr")
    seen = ["soft hyphen", "a b", "Das ist schön.", "ΟΔΟΣ", "👍 ok"]
    unseen = [
        "soft\u00ad hy\u200dphen",
        "a\u200bb",
        "\ufeffDas\x07ist schön\u2060.",
        "ΟΔΟ\u00adΣ",
        "👍\ufe0f ok",
    ]
    np.testing.assert_array_equal(model.encode(unseen), model.encode(seen))
