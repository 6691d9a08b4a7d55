"""Test how text is cut into words, and how words are counted in scripts without spaces."""

import zipfile

import pyarrow as pa
import pytest

from paraphrastic_pipeline.corpus.tokens import count_words, open_treebank, tokenize


def words_of(text, tokenizer="word"):
    tokens = tokenize([text], tokenizer)
    return [tokens.words[number] for number in tokens.ids]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(Hello!)  World", "( hello ! ) world"),
        ("don't 3.5 well-known.", "don't 3.5 well-known ."),
        ("...", ". . ."),
        ("ቃል፡ ፡ቃል", "ቃል ቃል"),
        ("日本語です。", "日 本 語 で す 。"),
        ("ที่บ้าน!", "ที่ บ้ า น !"),
        ("GPUが3.5倍", "gpu が 3.5 倍"),
        ("བོད་སྐད།", "བོད སྐད །"),
    ],
)
def test_words_to_compare(text, words):
    assert words_of(text) == words.split()
    assert words_of(f"x {text}", "split") == ["x", *text.lower().split()]


def test_text_without_spaces_is_whole_if_only_white_space_counts():
    assert words_of("日本語です。 (GPUが)", "white_space") == ["日本語です", "。", "(", "gpuが", ")"]


def test_tokens_of_many_texts():
    texts = ["a b.", "", "B a a", "  "]
    # The offsets of a sliced array do not begin at 0.
    for array in (pa.array(texts), pa.array(["x", *texts])[1:]):
        tokens = tokenize(array)
        assert tokens.offsets.tolist() == [0, 3, 3, 6, 6]
        assert [tokens.words[i] for i in tokens.ids] == ["a", "b", ".", "b", "a", "a"]
        assert tokens.owners.tolist() == [0, 0, 0, 2, 2, 2]
        assert len(set(tokens.words)) == len(tokens.words)


@pytest.mark.parametrize(
    ("text", "words", "characters"),
    [
        ("", 0, 0),
        ("(Привет, мир!) -", 3, 0),
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
        ("한국어 ꆈꌠ ᬅᬓ᭄ᬱᬭ ꦲꦏ꧀ꦱꦫ 𗼇 𠀋", 13, 12),
        ("བོད་སྐད་ཡིག་", 3, 0),
    ],
)
def test_words_of_scripts_without_spaces(text, words, characters):
    for other, counted in (("two words", (2, 0)), ("日本", (2, 2))):
        counts, single = count_words([text, other])
        assert counts.tolist() == [words, counted[0]]
        assert single.tolist() == [characters, counted[1]]


# Words as `nltk.word_tokenize` splits them, checked with NLTK's own data.
TREEBANK = {
    "I know. I know him well. He is here.": "i know . i know him well . he is here .",
    "I don't know what you're doing": "i do n't know what you 're doing",
    'they said "we can\'t go home"!': "they said `` we ca n't go home '' !",
    "mr. smith saw dr. who at 5 p.m. in the u.s.": "mr. smith saw dr. who at 5 p.m. in the u.s .",
    # A number ends a sentence before a word that Punkt has seen at the beginning of one, unless the two
    # often stand together.
    "page 5. it is, page 5. he is, page 5. we are": "page 5. it is , page 5 . he is , page 5. we are",
    "wait... no. . . . yes": "wait ... no . . . . yes",
    "gonna cost 3.5% more, isn't it?": "gon na cost 3.5 % more , is n't it ?",
    "first (of two). second; third -- end.": "first ( of two ) . second ; third -- end .",
    "  ": "",
}


def punkt_archive(path):
    """Write a small archive like NLTK's `punkt_tab.zip`."""
    tables = {"abbrev_types.txt": "mr\ndr\np.m\nu.s\n", "collocations.tab": "##number##\twe\n"}
    tables |= {"sent_starters.txt": "never\n", "ortho_context.tab": "he\t16\nwe\t16\n"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in tables.items():
            archive.writestr(f"punkt_tab/english/{name}", text)
            archive.writestr(f"punkt_tab/german/{name}", "")
    return path


def test_treebank_words_are_those_of_nltk(tmp_path):
    split = open_treebank(punkt_archive(tmp_path / "punkt_tab.zip"))
    assert split(list(TREEBANK)) == list(TREEBANK.values())
    assert [path.name for path in tmp_path.iterdir()] == ["punkt_tab.zip"]
