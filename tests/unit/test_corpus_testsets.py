"""Test the normal form of sentences, and how the sentences of the test sets are collected."""

from pathlib import Path

import pandas as pd
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.normal_form import words_of
from paraphrastic_pipeline.corpus.testset_sentences import TestFile, gather_testsets
from paraphrastic_pipeline.evaluation.transfer_data import prepare_transfer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  Don't—stop, NOW! ", ["don", "t", "stop", "now"]),
        ("ﬁne ｆｏｏ_bar ½", ["fine", "foo", "bar", "1", "2"]),
        ("Straße $5 3.5%", ["strasse", "5", "3", "5"]),
        ("中文，测试 abc。", ["中", "文", "测", "试", "abc"]),
        ("「テスト」", ["テ", "ス", "ト"]),
        ("هٰذَا كِـتَاب", ["هذا", "كتاب"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("cafe\u0301", ["café"]),
        ("Ёлка е\u0308ж й", ["елка", "еж", "й"]),
        ("... — !", []),
    ],
)
def test_words_of_the_normal_form(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_ascii_is_as_all_text_is() -> None:
    text = "".join(map(chr, range(128))) * 2
    # A letter beyond ASCII makes the code take its other branch.
    assert words_of(text) == words_of(f"{text} é")[:-1]


@pytest.mark.parametrize("text", ["İSTANBUL IŞIĞI", "STRASSE ẞ", "ΟΔΥΣΣΕΥΣ", "ǅ ŉ"])
def test_lower_casing_does_not_change_the_normal_form(text: str) -> None:
    assert words_of(text.lower()) == words_of(text)
    turkish = text.replace("I", "ı").replace("İ", "i").lower()
    assert words_of(turkish) == words_of(text)


def tatoeba(tmp_path: Path, code: str, text: bytes) -> TestFile:
    path = tmp_path / f"tatoeba.{code}"
    path.write_bytes(text)
    return TestFile("tatoeba", path, (code, "en") if code != "en" else ("en", "xx"))


def prepared(tmp_path: Path, testset: str, columns: str, *rows: tuple[str | None, ...]) -> TestFile:
    pd.DataFrame(rows, columns=columns.split()).to_parquet(tmp_path / f"{testset}.parquet")
    return TestFile(testset, tmp_path / f"{testset}.parquet", ("de", "en") if testset == "bucc" else ())


def sts(tmp_path: Path, *rows: tuple[str | None, ...]) -> TestFile:
    return prepared(tmp_path, "sts", "year dataset sentence1 sentence2", *rows)


def gathered(tmp_path: Path, *files: TestFile, **segmentation: str) -> pd.DataFrame:
    gather_testsets(files, tmp_path / "sentences.parquet", segmentation=segmentation, lowercase=True)
    return pd.read_parquet(tmp_path / "sentences.parquet")


def cells(table: pd.DataFrame) -> list[tuple[str | None, ...]]:
    """The rows of a table of sentences, without their words."""
    rows = table.drop(columns="words").astype(object)
    return list(rows.where(rows.notna(), None).itertuples(index=False, name=None))


def test_sentences_of_sts(tmp_path: Path) -> None:
    file = sts(
        tmp_path,
        ("2014", "images", "A man runs.", "A dog runs."),
        ("2014", "images", "A man runs.", "A dog barks."),
        ("2014", "deft-news", "A man runs.", "…"),
        ("2017", "ar-ar", "كتاب", "بيت"),
        ("2017", "es-en", "Hola.", "Hello."),
        ("2017", "es-en-4b", "Hola.", "Hi."),
        ("stsb", "train", "Not a test.", "Nor this."),
        ("stsb", "dev", "Not a test either.", "Nor that."),
        ("stsb", "test", "One cat.", "Two cats."),
    )
    assert cells(gathered(tmp_path, file)) == [
        ("sts", "2014/images", "en", "A man runs."),
        ("sts", "2014/images", "en", "A dog runs."),
        ("sts", "2014/images", "en", "A dog barks."),
        ("sts", "2014/deft-news", "en", "A man runs."),
        ("sts", "2017/ar-ar", "ar", "كتاب"),
        ("sts", "2017/ar-ar", "ar", "بيت"),
        ("sts", "2017/es-en", None, "Hola."),
        ("sts", "2017/es-en", None, "Hello."),
        ("sts", "2017/es-en-4b", None, "Hola."),
        ("sts", "2017/es-en-4b", None, "Hi."),
        ("sts", "stsb/test", "en", "One cat."),
        ("sts", "stsb/test", "en", "Two cats."),
    ]


def test_sentences_of_tatoeba_bucc_and_senteval(tmp_path: Path) -> None:
    found = gathered(
        tmp_path,
        tatoeba(tmp_path, "de", "\ufeffHallo!\r\nHallo!\n…\n".encode()),
        tatoeba(tmp_path, "en", b"Hello!\n"),
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
    )
    assert cells(found) == [
        ("tatoeba", "de-en", "de", "Hallo!"),
        ("tatoeba", "en-xx", "en", "Hello!"),
        ("bucc", "de-en", "de", "Ein Satz."),
        ("bucc", "de-en", "en", "A sentence."),
        ("senteval", "MR", "en", "bad film"),
        ("senteval", "SST", "en", "no fun"),
        ("senteval", "MRPC", "en", "He said so."),
        ("senteval", "MRPC", "en", "He says so."),
    ]
    assert list(found["words"][found["sentence"] == "Ein Satz."].item()) == ["ein", "satz"]


def test_chinese_is_segmented_as_the_training_data_are(tmp_path: Path) -> None:
    text = "我来到北京清华大学。"
    # The full mode writes overlapping words. Training text that is segmented in that mode has them too.
    found = gathered(tmp_path, tatoeba(tmp_path, "zh", text.encode()), zh="full")
    assert "".join(found["words"][0]) == "我来到北京清华清华大学华大大学"
    assert len(gathered(tmp_path, tatoeba(tmp_path, "zh", text.encode()), zh="accurate")["words"][0]) == 9


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: tatoeba(path, "de", b"Hallo!\n\xff\n"), r"tatoeba\.de:2: not UTF-8"),
        (lambda path: tatoeba(path, "de", b""), r"tatoeba\.de: contains no test sentence"),
        (sts, r"sts\.parquet: contains no test sentence"),
        (
            lambda path: TestFile("sts", tatoeba(path, "de", b"PK").path),
            r"tatoeba\.de: not readable as Parquet",
        ),
        (lambda path: TestFile("tatoeba", path / "none", ("de", "en")), r"none: cannot be read"),
    ],
)
def test_bad_test_sets_are_named(tmp_path: Path, make, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        gathered(tmp_path, make(tmp_path))
    assert "\n" not in str(error.value)
    assert not (tmp_path / "sentences.parquet").exists()


def test_the_test_sets_of_the_mirror_are_read(tmp_path: Path, mirror: Path) -> None:
    archive, path = mirror / "senteval/senteval_data.tar.gz", tmp_path / "senteval.parquet"
    prepare_transfer("senteval", {"senteval": [archive]}, path)
    counts = gather_testsets(
        [TestFile("senteval", path)], tmp_path / "sentences.parquet", segmentation={}, lowercase=True
    )
    assert counts == {"senteval": 43_387}
