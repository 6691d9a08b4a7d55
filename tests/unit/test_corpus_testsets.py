"""Test the normal form of sentences, and how the sentences of the test sets are collected."""

from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.normal_form import words_of
from paraphrastic_pipeline.corpus.testset_sentences import gather_testsets


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  Don't—stop, NOW! ", "don t stop now"),
        ("ﬁne ｆｏｏ_bar ½", "fine foo bar 1 2"),
        ("Straße $5 3.5%", "strasse 5 3 5"),
        ("中文，测试 abc。", "中 文 测 试 abc"),
        ("「テスト」", "テ ス ト"),
        ("ที่บ้าน", "ที่ บ้ า น"),
        ("ខ្ញុំ", "ខ្ ញុំ"),
        ("هٰذَا كِـتَاب", "هذا كتاب"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("cafe\u0301 so\u00adft", "café soft"),
        ("Ёлка е\u0308ж й", "елка еж й"),
        ("... — !", ""),
    ],
)
def test_words_of_the_normal_form(text, words):
    assert words_of(text) == words.split()


def test_ascii_is_as_all_text_is():
    text = "".join(map(chr, range(128))) * 2
    # A letter beyond ASCII makes the code take its other branch.
    assert words_of(text) == words_of(f"{text} é")[:-1]


@pytest.mark.parametrize("text", ["İSTANBUL IŞIĞI", "STRASSE ẞ", "ΟΔΥΣΣΕΥΣ", "ǅ ŉ"])
def test_lower_casing_does_not_change_the_normal_form(text):
    assert words_of(text.lower()) == words_of(text)
    turkish = text.replace("I", "ı").replace("İ", "i").lower()
    assert words_of(turkish) == words_of(text)


def text_file(folder, code, text):
    (folder / f"tatoeba.{code}").write_bytes(text)
    return folder / f"tatoeba.{code}", {"testset": "tatoeba", "languages": (code, "en")}


def prepared(folder, testset, columns, *rows):
    schema = pa.schema([(name, pa.string()) for name in columns.split()])
    table = [dict(zip(schema.names, row, strict=True)) for row in rows]
    pq.write_table(pa.Table.from_pylist(table, schema=schema), folder / f"{testset}.parquet")
    return folder / f"{testset}.parquet", {"testset": testset, "languages": ("de", "en")}


def sts(folder, *rows):
    return prepared(folder, "sts", "year dataset sentence1 sentence2", *rows)


def gathered(folder, *files, **segmentation):
    settings = {"files": [about for _, about in files], "segmentation": segmentation, "lowercase": True}
    counts = gather_testsets([path for path, _ in files], folder / "tests.parquet", **settings)
    rows = pq.read_table(folder / "tests.parquet").to_pylist()
    assert counts == Counter(row["testset"] for row in rows)
    return rows


def test_the_sentences_of_all_test_sets(tmp_path):
    files = [
        sts(
            tmp_path,
            ("2014", "images", "A man runs.", "A dog runs."),
            ("2014", "images", "A man runs.", "…"),
            ("2014", "deft-news", "A man runs.", "So."),
            ("2017", "ar-ar", "كتاب", "بيت"),
            ("2017", "es-en", "Hola.", "Hi."),
            ("stsb", "dev", "Not a test.", "Nor this."),
            ("stsb", "test", "One cat.", "Two cats."),
        ),
        text_file(tmp_path, "de", "\ufeffHallo!\r\nHallo!\n…\n".encode()),
        prepared(tmp_path, "bucc", "language sentence", ("de", "Ein Satz."), ("en", "A sentence.")),
        prepared(
            tmp_path,
            "senteval",
            "dataset part sentence1 sentence2",
            ("MR", "all", "bad film", None),
            ("SST", "dev", "no test", None),
            ("MRPC", "test", "He said so.", "He says so."),
        ),
    ]
    found = gathered(tmp_path, *files)
    assert ["\t".join(map(str, list(row.values())[:4])) for row in found] == [
        "sts\t2014/images\ten\tA man runs.",
        "sts\t2014/images\ten\tA dog runs.",
        "sts\t2014/deft-news\ten\tA man runs.",
        "sts\t2014/deft-news\ten\tSo.",
        "sts\t2017/ar-ar\tar\tكتاب",
        "sts\t2017/ar-ar\tar\tبيت",
        "sts\t2017/es-en\tNone\tHola.",
        "sts\t2017/es-en\tNone\tHi.",
        "sts\tstsb/test\ten\tOne cat.",
        "sts\tstsb/test\ten\tTwo cats.",
        "tatoeba\tde-en\tde\tHallo!",
        "bucc\tde-en\tde\tEin Satz.",
        "bucc\tde-en\ten\tA sentence.",
        "senteval\tMR\ten\tbad film",
        "senteval\tMRPC\ten\tHe said so.",
        "senteval\tMRPC\ten\tHe says so.",
    ]
    assert all(row["words"] == words_of(row["sentence"]) for row in found)
    assert gathered(tmp_path) == []


def test_chinese_is_segmented_as_the_training_data_are(tmp_path):
    file = text_file(tmp_path, "zh", "我来到北京清华大学。".encode())
    # The full mode writes overlapping words. Training text that is segmented in that mode has them too.
    (row,) = gathered(tmp_path, file, zh="full")
    assert "".join(row["words"]) == "我来到北京清华清华大学华大大学"
    assert [len(row["words"]) for row in gathered(tmp_path, file, zh="accurate")] == [9]


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (lambda folder: text_file(folder, "de", b"Hallo!\n\xff\n"), r"tatoeba\.de:2: .*UTF-8"),
        (lambda folder: text_file(folder, "de", b""), r"tatoeba\.de: .*no test sentence"),
        (sts, r"sts\.parquet: .*no test sentence"),
        (
            lambda folder: (folder / "none", {"testset": "tatoeba", "languages": ("de", "en")}),
            r"none: cannot",
        ),
    ],
)
def test_bad_test_sets_are_named(tmp_path, make, cause):
    with pytest.raises(InputError, match=cause):
        gathered(tmp_path, make(tmp_path))
    assert not (tmp_path / "tests.parquet").exists()
