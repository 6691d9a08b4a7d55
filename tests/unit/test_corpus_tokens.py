"""Test how text is cut into tokens."""

import sys

import pyarrow as pa
import pytest

from paraphrastic_pipeline.corpus.tokens import count_tokens, tokenize


def test_tokens_are_counted_as_python_splits():
    spaces = [chr(code) for code in range(sys.maxunicode) if chr(code).isspace()]
    texts = ["", " ", "one", " one two  three ", *(f"a{space}b{space}" for space in spaces)]
    assert count_tokens(pa.array(texts))[0].to_pylist() == [len(text.split()) for text in texts]


def words_of(text: str) -> list[str]:
    tokens = tokenize([text])
    return [tokens.words[number] for number in tokens.ids]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(Hello!)  World", ["(", "hello", "!", ")", "world"]),
        ("don't 3.5 well-known.", ["don't", "3.5", "well-known", "."]),
        ("...", [".", ".", "."]),
        ("«Нет», €5", ["«", "нет", "»", ",", "€", "5"]),
        ("हिन्दी।", ["हिन्दी", "।"]),
        ("ቃል፡ ፡ቃል", ["ቃል", "ቃል"]),
        (" \t ", []),
    ],
)
def test_words(text, words):
    assert words_of(text) == words


def test_tokens_of_many_texts():
    texts = ["a b.", "", "B a a", "  "]
    tokens = tokenize(pa.array(texts))
    assert tokens.offsets.tolist() == [0, 3, 3, 6, 6]
    assert [tokens.words[i] for i in tokens.ids] == ["a", "b", ".", "b", "a", "a"]
    assert len(set(tokens.words)) == len(tokens.words)
    assert tokens.owners.tolist() == [0, 0, 0, 2, 2, 2]
    # The offsets of a sliced array do not begin at 0.
    sliced = tokenize(pa.array(["x", *texts])[1:])
    assert sliced.offsets.tolist() == tokens.offsets.tolist()
    assert [sliced.words[i] for i in sliced.ids] == ["a", "b", ".", "b", "a", "a"]
