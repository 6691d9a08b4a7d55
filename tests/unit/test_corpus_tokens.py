"""Segmentation, lower-casing and tokens."""

import sys
import unicodedata
import zipfile

import pyarrow as pa
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import collapse_spaces, fold, lowercase, segment
from paraphrastic.corpus.tokens import count_tokens, tokenise


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
    same = {mode: lowercase(fold([lower, upper], {"tr": mode})) for mode in ("none", "dotted", "dotless")}
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
    assert lowercase(["ÄÖÜ ΟΔΟΣ", "İ"]) == ["äöü οδος", "i̇"]
    assert collapse_spaces([" a \u2028 b\tc ", "\u3000"]) == ["a b c", ""]


def test_tokens_are_counted_as_python_splits():
    spaces = [chr(code) for code in range(sys.maxunicode) if chr(code).isspace()]
    texts = ["", " ", "one", " one two  three ", *(f"a{space}b{space}" for space in spaces)]
    assert count_tokens(pa.array(texts)).to_pylist() == [len(text.split()) for text in texts]


def words_of(text: str) -> list[str]:
    tokens = tokenise([text])
    return [tokens.words[number] for number in tokens.ids]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(Hello!)  World", ["(", "hello", "!", ")", "world"]),
        ("don't 3.5 well-known.", ["don't", "3.5", "well-known", "."]),
        ("...", [".", ".", "."]),
        ("«Нет», €5", ["«", "нет", "»", ",", "€", "5"]),
        ("हिन्दी।", ["हिन्दी", "।"]),
        (" \t ", []),
    ],
)
def test_words(text, words):
    assert words_of(text) == words


def test_tokens_of_many_texts():
    texts = ["a b.", "", "B a a", "  "]
    tokens = tokenise(pa.array(texts))
    assert tokens.offsets.tolist() == [0, 3, 3, 6, 6]
    assert [tokens.words[i] for i in tokens.ids] == ["a", "b", ".", "b", "a", "a"]
    assert len(set(tokens.words)) == len(tokens.words)
    assert tokens.owners.tolist() == [0, 0, 0, 2, 2, 2]
    # A slice of an array has offsets that do not begin at 0.
    sliced = tokenise(pa.array(["x", *texts])[1:])
    assert sliced.offsets.tolist() == tokens.offsets.tolist()
    assert [sliced.words[i] for i in sliced.ids] == ["a", "b", ".", "b", "a", "a"]
