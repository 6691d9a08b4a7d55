"""Test which scripts are written without spaces, and how words are counted in them."""

import unicodedata

import pyarrow as pa
import pytest
import regex

from paraphrastic_pipeline.corpus.normal_form import words_of
from paraphrastic_pipeline.corpus.spaceless import LETTERS, has_spaceless
from paraphrastic_pipeline.corpus.tokens import count_words, tokenize

SCRIPTS = """
    Han Hiragana Katakana Thai Lao Khmer Myanmar Tai_Tham Tai_Le New_Tai_Lue Tai_Viet Balinese Javanese Yi
    Tangut
""".split()  # noqa: SIM905
OF_SCRIPT = regex.compile("[" + "".join(rf"\p{{Script={name}}}" for name in SCRIPTS) + "]")
SHARED = regex.compile("[" + "".join(rf"\p{{scx={name}}}" for name in SCRIPTS) + "]")
LETTER = regex.compile(r"[\p{L}\p{Nl}]")


def test_the_table_has_the_letters_of_these_scripts():
    table = {code for first, last in LETTERS for code in range(first, last + 1)}
    # The marks of half-width kana are letters in Unicode, and belong to the character before them.
    for code in set(range(0x110000)) - {0xFF9E, 0xFF9F}:
        character = chr(code)
        if code not in table:
            assert not (OF_SCRIPT.match(character) and LETTER.match(character)), hex(code)
        elif unicodedata.category(character) != "Cn":
            assert SHARED.match(character), hex(code)
            assert LETTER.match(character), hex(code)


@pytest.mark.parametrize(
    ("text", "words", "characters"),
    [
        ("", 0, 0),
        (" \u3000 ", 0, 0),
        ("two words", 2, 0),
        ("(Привет, мир!) -", 3, 0),
        ("“quoted” – text", 3, 0),
        ("हिन्दी में", 2, 0),
        ("한국어 문장", 2, 0),
        ("日本語です。", 5, 5),
        ("元気 です か", 5, 5),
        # Dots alone are a word, as other marks between spaces are.
        ("། ་་ ་", 3, 0),
        ("ﾊﾟﾝとパン", 5, 5),
        ("3.5倍のGPU、だ!", 5, 3),
        ("我們 cafe\u0301s 店", 4, 3),
        ("。", 1, 0),
        ("ฉันกินข้าวที่บ้าน", 11, 11),
        ("ខ្ញុំស្រឡាញ់", 6, 6),
        ("ကျွန်တော်", 3, 3),
        ("ຂ້ອຍ", 3, 3),
        ("བོད་སྐད་ཡིག་", 3, 0),
    ],
)
def test_words_of_scripts_without_spaces(text, words, characters):
    counts, single = count_words(pa.array(["one", text, "two words"]))
    assert counts.to_pylist() == [1, words, 2]
    assert single.to_pylist() == [0, characters, 0]
    sliced, _ = count_words(pa.array(["x", text, "日本"])[1:])
    assert sliced.to_pylist() == [words, 2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("日本語です。", ["日", "本", "語", "で", "す", "。"]),
        ("ที่บ้าน!", ["ที่", "บ้", "า", "น", "!"]),
        ("GPUが3.5倍", ["gpu", "が", "3.5", "倍"]),
        ("བོད་སྐད།", ["བོད", "སྐད", "།"]),
    ],
)
def test_words_to_compare(text, words):
    tokens = tokenize([text])
    assert [tokens.words[number] for number in tokens.ids] == words
    whole = tokenize([text], "white_space")
    assert len(whole.ids) <= 2


def test_marks_belong_to_the_character_before_in_the_normal_form():
    assert words_of("ที่บ้าน") == ["ที่", "บ้", "า", "น"]
    assert words_of("ខ្ញុំ") == ["ខ្", "ញុំ"]


def test_other_scripts_take_the_fast_way():
    assert not has_spaceless(pa.array(["", "Größe", "Привет", "हिन्दी", "“a”", "한국어"]))
    assert not has_spaceless(pa.array([], pa.string()))
    assert has_spaceless(pa.array(["a", "b日"]))
    assert not has_spaceless(pa.array(["日", "b"])[1:])
