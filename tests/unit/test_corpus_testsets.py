"""Test the normal form of sentences, and how the sentences of the test sets are collected."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.normal_form import words_of
from paraphrastic_pipeline.corpus.testset_sentences import TestFile, gather_testsets


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


def text_file(folder: Path, code: str, text: bytes) -> TestFile:
    (folder / f"tatoeba.{code}").write_bytes(text)
    return TestFile("tatoeba", folder / f"tatoeba.{code}", (code, "en") if code != "en" else ("en", "xx"))


def prepared(folder: Path, testset: str, columns: str, *rows: tuple[str | None, ...]) -> TestFile:
    schema = pa.schema([(name, pa.string()) for name in columns.split()])
    table = [dict(zip(schema.names, row, strict=True)) for row in rows]
    pq.write_table(pa.Table.from_pylist(table, schema=schema), folder / f"{testset}.parquet")
    return TestFile(testset, folder / f"{testset}.parquet", ("de", "en") if testset == "bucc" else ())


def sts(folder: Path, *rows: tuple[str | None, ...]) -> TestFile:
    return prepared(folder, "sts", "year dataset sentence1 sentence2", *rows)


def gathered(folder: Path, *files: TestFile, **segmentation: str) -> list[dict[str, Any]]:
    counts = gather_testsets(files, folder / "tests.parquet", segmentation=segmentation, lowercase=True)
    rows: list[dict[str, Any]] = pq.read_table(folder / "tests.parquet").to_pylist()
    assert sum(counts.values()) == len(rows)
    assert all(sum(row["testset"] == name for row in rows) == number for name, number in counts.items())
    return rows


def test_the_sentences_of_all_test_sets(tmp_path):
    images = [("2014", "images", "A man runs.", text) for text in ("A dog runs.", "A dog barks.")]
    tracks = [("es-en", "Hello."), ("es-en-4b", "Hi.")]
    files = [
        sts(
            tmp_path,
            *images,
            ("2014", "deft-news", "A man runs.", "…"),
            ("2017", "ar-ar", "كتاب", "بيت"),
            *(("2017", track, "Hola.", english) for track, english in tracks),
            ("stsb", "train", "Not a test.", "Nor this."),
            ("stsb", "dev", "Not a test either.", "Nor that."),
            ("stsb", "test", "One cat.", "Two cats."),
        ),
        text_file(tmp_path, "de", "\ufeffHallo!\r\nHallo!\n…\n".encode()),
        text_file(tmp_path, "en", b"Hello!\n"),
        prepared(tmp_path, "bucc", "language sentence", ("de", "Ein Satz."), ("en", "A sentence.")),
        prepared(
            tmp_path,
            "senteval",
            "dataset part sentence1 sentence2",
            ("MR", "all", "bad film", None),
            ("SST", "train", "no test", None),
            ("SST", "dev", "no test", None),
            ("SST", "test", "no fun", None),
            ("MRPC", "test", "He said so.", "He says so."),
        ),
    ]
    found = gathered(tmp_path, *files)
    names = ("testset", "dataset", "language", "sentence")
    assert [tuple(row[name] for name in names) for row in found] == [
        *(("sts", "2014/images", "en", f"A {text}.") for text in ("man runs", "dog runs", "dog barks")),
        ("sts", "2014/deft-news", "en", "A man runs."),
        *(("sts", "2017/ar-ar", "ar", text) for text in ("كتاب", "بيت")),
        *(("sts", f"2017/{track}", None, text) for track, english in tracks for text in ("Hola.", english)),
        *(("sts", "stsb/test", "en", text) for text in ("One cat.", "Two cats.")),
        ("tatoeba", "de-en", "de", "Hallo!"),
        ("tatoeba", "en-xx", "en", "Hello!"),
        *(("bucc", "de-en", *row) for row in (("de", "Ein Satz."), ("en", "A sentence."))),
        ("senteval", "MR", "en", "bad film"),
        ("senteval", "SST", "en", "no fun"),
        *(("senteval", "MRPC", "en", text) for text in ("He said so.", "He says so.")),
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
        (lambda folder: TestFile("tatoeba", folder / "none", ("de", "en")), r"none: cannot be read"),
    ],
)
def test_bad_test_sets_are_named(tmp_path, make, cause):
    with pytest.raises(InputError, match=cause) as error:
        gathered(tmp_path, make(tmp_path))
    assert "\n" not in str(error.value)
    assert not (tmp_path / "tests.parquet").exists()
