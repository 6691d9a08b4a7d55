"""Test segmentation, folding and lower-casing, which prepare text for corpora and for models in use."""

import sys
import unicodedata
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import unicode_text

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import collapse_spaces, fold, is_chinese, prepare_text, segment, visible
from paraphrastic.model.average import AverageEncoder
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from paraphrastic_pipeline.corpus.score import TextSettings, score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs


def test_chinese_is_segmented_by_mode(capfd):
    texts = ["我来到北京清华大学", "hi there，你好", ""]
    assert segment(texts, "zh", "accurate") == ["我 来到 北京 清华大学", "hi there ， 你好", ""]
    assert segment(texts[:1], "zh", "full") == ["我 来到 北京 清华 清华大学 华大 大学"]
    assert segment(texts, "zh", "none") == texts
    assert capfd.readouterr() == ("", "")


def test_other_languages_have_no_segmenter():
    with pytest.raises(InputError, match=r"segmentation\.ja: there is no segmenter 'accurate'"):
        segment(["日本語"], "ja", "accurate")
    with pytest.raises(InputError, match=r"segmentation\.zh: there is no segmenter 'fine'"):
        segment(["我"], "zh", "fine")
    assert segment(["as it is"], "en", "none") == ["as it is"]


@pytest.mark.parametrize(
    ("language", "mode", "text", "expected"),
    [
        ("ar", "marks", "ٱلَّذِينَ يُؤۡمِنُونَ بِٱلۡغَيۡبِ", "الذين يؤمنون بالغيب"),
        ("ar", "marks", "كتـــاب \u06dd 5", "كتاب \u06dd 5"),
        ("ru", "yo", "Ёлка, всё и е\u0308ж", "Елка, все и еж"),
        ("tr", "dotted", "İstanbul ILIK ılık", "istanbul ILIK ılık"),
        ("tr", "dotless", "İstanbul ILIK ılık", "istanbul iLiK ilik"),
        ("tr", "none", "İI", "İI"),
    ],
)
def test_folding(language, mode, text, expected):
    assert fold([text, "", "plain text"], {language: mode}) == [expected, "", "plain text"]


def test_turkish_words_are_found_whatever_their_case():
    lower, upper = "istanbul ışık diyarbakır", "İSTANBUL IŞIK DİYARBAKIR"
    same = {
        mode: prepare_text([lower, upper], folding={"tr": mode}, lowercase=True)
        for mode in ("none", "dotted", "dotless")
    }
    assert same["none"][1].count("\u0307") == 2
    assert same["dotted"][1] == "istanbul işik diyarbakir"
    assert same["dotless"][0] == same["dotless"][1]


def test_foldings_of_several_languages_go_together():
    assert fold(["ёİٱ"], {"ru": "yo", "tr": "dotted", "ar": "marks"}) == ["еiا"]


def test_real_arabic_loses_its_marks_and_nothing_else(mirror):
    with zipfile.ZipFile(mirror / "object.pouta.csc.fi/OPUS-Tanzil/v1/moses/ar-en.txt.zip") as archive:
        lines = archive.read("Tanzil.ar-en.ar").decode("utf-8").split("\n")[:500]
    for before, after in zip(lines, fold(lines, {"ar": "marks"}), strict=True):
        composed = unicodedata.normalize("NFC", before)
        letters = [c for c in composed if unicodedata.category(c) == "Lo"]
        assert [c for c in after if unicodedata.category(c) == "Lo"] == [
            "ا" if c == "ٱ" else c for c in letters
        ]
        assert not any(unicodedata.category(c) == "Mn" for c in after)


def test_lowercase_and_spaces():
    assert prepare_text(["ÄÖÜ  ΟΔΟΣ", "İ"], lowercase=True) == ["äöü  οδος", "i̇"]
    assert collapse_spaces([" a \u2028 b\tc ", "\u3000"]) == ["a b c", ""]


def test_what_nobody_sees_is_left_out_and_control_characters_are_spaces():
    regex = pytest.importorskip("regex", reason="regex is not installed")
    every = list(map(chr, [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]))
    ignorable = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    for character, (found,) in zip(every, ([text] for text in visible(every)), strict=True):
        if character == "\u200b" or unicodedata.category(character) == "Cc":
            assert found == " ", hex(ord(character))
        elif ignorable.match(character) or character in "\ufff9\ufffa\ufffb":
            assert found == "", hex(ord(character))
        else:
            assert found == character
    assert visible(["so\xadft", "", "a\x85\u2066b\u2069", "plain", "❤\ufe0f", "\ud800"]) == [
        "soft", "", "a b", "plain", "❤", "\ud800",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我来到北京", True), ("我用Windows", True), ("今天 5 度", True), ("𠮷", True), ("", False),
        ("12 %", False), ("don't 中", False), ("He wrote 中 on the wall", False), ("日本語です", False),
        ("ｶﾀｶﾅ 漢字", False), ("中한국", False), ("大學生活ㅋㅋㅋ", False), ("㈜大韓航空", False),
        ("漢字漢字ꥠ", False), ("ㇰㇱ漢字漢字", False), ("𛀁漢字漢字", False), ("株式会社㋐", False),
        ("㌀漢字", False), ("ภาษา", False),
    ],
)  # fmt: skip
def test_chinese_is_told_by_its_characters(text, expected):
    assert is_chinese(text) is expected


def test_text_without_a_language_is_segmented_if_it_is_chinese():
    texts = ["hi there，you", "你好，you", "今日は図書館"]
    accurate = {"zh": "accurate"}
    assert prepare_text(texts, segmentation=accurate) == ["hi there，you", "你好 ， you", "今日は図書館"]
    chinese = prepare_text(texts, language="zh", segmentation=accurate)
    assert chinese[:2] == ["hi there ， you", "你好 ， you"]
    for language in ("en", "ja"):
        assert prepare_text(texts, language=language, segmentation=accurate) == texts


def test_text_is_lower_cased_before_it_is_segmented():
    """As in the original: jieba's dictionary has *T恤*, but not *t恤*."""
    full = {"zh": "full"}
    (cased,) = prepare_text(["他穿T恤"], segmentation=full)
    (lowered,) = prepare_text(["他穿T恤"], segmentation=full, lowercase=True)
    assert cased.lower() != lowered == segment(["他穿t恤"], "zh", "full")[0]


@pytest.mark.parametrize(
    ("language", "segmentation", "folding", "sentence"),
    [
        ("ar", {}, {"ar": "marks"}, "ٱلَّذِينَ يُؤۡمِنُونَ بِٱلۡغَيۡبِ كتـــاب"),
        ("ru", {}, {"ru": "yo"}, "Ёлка, всё и е\u0308ж ЕЩЁ зелёная"),
        ("tr", {}, {"tr": "dotted"}, "İSTANBUL IŞIK Diyarbakır I\u0307yi"),
        ("tr", {}, {"tr": "dotless"}, "İSTANBUL IŞIK Diyarbakır I\u0307yi"),
        ("zh", {"zh": "accurate"}, {}, "我来到北京清华大学，Hello World！ 他来到了网易杭研大厦"),
        ("zh", {"zh": "full"}, {}, "我来到北京清华大学，Hello World！ 他来到了网易杭研大厦"),
    ],
)
def test_corpora_and_models_prepare_odd_text_alike(
    tmp_path: Path, model: AverageEncoder, language, segmentation, folding, sentence
):
    odd = [f"{sentence[:2]} {text}" for text in unicode_text.texts(300, [sentence, "A plain SENTENCE"])]
    pq.write_table(
        pa.table({"source": odd, "target": ["text"] * len(odd), "line": range(1, len(odd) + 1)}),
        tmp_path / "pairs.parquet",
    )
    score_pairs(
        tmp_path / "pairs.parquet",
        tmp_path / "scored.parquet",
        languages=(language, "en"),
        identifier=None,
        word_vectors=None,
        text=TextSettings(segmentation=segmentation, folding=folding, lowercase=True),
    )
    select_pairs(
        [tmp_path / "scored.parquet"],
        FilterFiles(tmp_path / "selected.parquet", tmp_path / "counts.json", tmp_path / "dropped.tsv"),
        languages=(language, "en"),
        settings={},
        preparation={"segmentation": segmentation, "folding": folding, "lowercase": True},
        seed=1,
    )
    config = {**model.config, "segmentation": segmentation, "folding": folding, "lowercase": True}
    own = AverageEncoder(model.embeddings, model.known, model.unknown, model.processor, config)
    in_corpus = pq.read_table(tmp_path / "selected.parquet")["source"].to_pylist()
    assert in_corpus == collapse_spaces(own._prepare(odd, language))
    assert in_corpus != odd
