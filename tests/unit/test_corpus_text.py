"""Segmentation, lower-casing and tokens."""

import sys

import pyarrow as pa
import pytest

from paraphrastic.corpus.text import collapse_spaces, count_tokens, lowercase, segment
from paraphrastic.corpus.tokens import tokenise
from paraphrastic.errors import InputError


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
