"""Test the normal form of sentences, and how the sentences of the test sets are collected."""

import io
import tarfile
import zipfile
from pathlib import Path

import polars as pl
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.normal_form import words_of
from paraphrastic_pipeline.corpus.testsets import TestFile, gather_testsets


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


def sts_archive(tmp_path: Path) -> TestFile:
    members = {
        "STS/STS14-en-test/STS.input.images.txt": "A man runs.\tA dog runs.\nA man runs.\tA dog barks.\n",
        "STS/STS14-en-test/STS.gs.images.txt": "1\n2\n",
        "STS/STS17-test/STS.input.track1.ar-ar.txt": "كتاب\tبيت\n",
        "STS/STS17-test/STS.input.track4a.es-en.txt": "Hola.\tHello.\n",
        "STS/STSBenchmark/sts-test.csv": "a\tb\tc\t1\t2.5\tOne cat.\tTwo cats.\n",
        "STS/STSBenchmark/sts-train.csv": "a\tb\tc\t1\t2.5\tNot a test.\tNor this.\n",
    }
    path = tmp_path / "STS.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return TestFile("sts", path)


def tar(path: Path, members: dict[str, str]) -> Path:
    with tarfile.open(path, "w:bz2") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            content = text.encode("utf-8", "surrogateescape")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


SENTEVAL = {
    "MR/rt-polarity.neg": "bad film\n",
    "MR/rt-polarity.pos": "good film\n",
    "CR/custrev.neg": "broken\n",
    "CR/custrev.pos": "great\n",
    "SUBJ/subj.objective": "he leaves\n",
    "SUBJ/subj.subjective": "a delight\n",
    "MPQA/mpqa.neg": "refused\n",
    "MPQA/mpqa.pos": "praised\n",
    "SST/binary/sentiment-test": "no fun\t0\n",
    "SST/fine/sentiment-test": "3 some fun\n",
    "TREC/TREC_10.label": "NUM:dist How far is it ?\n",
    "MRPC/msr_paraphrase_test.txt": "Quality\t#1 ID\t#2 ID\t#1\t#2\n1\t2\t3\tHe said so.\tHe says so.\n",
    "SICK/SICK_test_annotated.txt": "pair_ID\tsentence_A\tsentence_B\n6\tNo boy plays\tA boy plays\n",
}


def senteval(tmp_path: Path, **changes: str) -> TestFile:
    members = {f"data/downstream/{name}": text for name, text in (SENTEVAL | changes).items()}
    return TestFile("senteval", tar(tmp_path / "senteval.tar.gz", members))


def bucc(tmp_path: Path, german: str = "de-1\tEin Satz.\nde-2\tNoch einer.\n") -> TestFile:
    members = {"b/de-en.training.de": german, "b/de-en.training.en": "en-1\tA sentence.\n", "b/gold": "x"}
    return TestFile("bucc", tar(tmp_path / "bucc.tar.bz2", members), ("de", "en"), tuple(members))


def gathered(tmp_path: Path, *files: TestFile, **segmentation: str) -> pl.DataFrame:
    gather_testsets(files, tmp_path / "sentences.parquet", segmentation=segmentation, lowercase=True)
    return pl.read_parquet(tmp_path / "sentences.parquet")


def test_sentences_of_sts(tmp_path: Path) -> None:
    rows = (
        gathered(tmp_path, sts_archive(tmp_path)).drop("testset", "words").sort("dataset", "sentence").rows()
    )
    assert rows == [
        ("2014/images", "en", "A dog barks."),
        ("2014/images", "en", "A dog runs."),
        ("2014/images", "en", "A man runs."),
        ("2017/track1.ar-ar", "ar", "بيت"),
        ("2017/track1.ar-ar", "ar", "كتاب"),
        ("2017/track4a.es-en", None, "Hello."),
        ("2017/track4a.es-en", None, "Hola."),
        ("STS-B", "en", "One cat."),
        ("STS-B", "en", "Two cats."),
    ]


def test_sentences_of_tatoeba_bucc_and_senteval(tmp_path: Path) -> None:
    found = gathered(
        tmp_path,
        tatoeba(tmp_path, "de", "\ufeffHallo!\r\nHallo!\n…\n".encode()),
        tatoeba(tmp_path, "en", b"Hello!\n"),
        bucc(tmp_path),
        senteval(tmp_path),
    )
    by_testset = {name: group for (name,), group in found.group_by("testset", maintain_order=True)}
    assert by_testset["tatoeba"].drop("testset", "words").rows() == [
        ("de-en", "de", "Hallo!"),
        ("en-xx", "en", "Hello!"),
    ]
    assert by_testset["bucc"].drop("testset", "words").rows() == [
        ("de-en", "de", "Ein Satz."),
        ("de-en", "de", "Noch einer."),
        ("de-en", "en", "A sentence."),
    ]
    assert by_testset["senteval"].select("dataset", "sentence").rows() == [
        ("MR", "bad film"),
        ("MR", "good film"),
        ("CR", "broken"),
        ("CR", "great"),
        ("SUBJ", "he leaves"),
        ("SUBJ", "a delight"),
        ("MPQA", "refused"),
        ("MPQA", "praised"),
        ("SST", "no fun"),
        ("SST", "some fun"),
        ("TREC", "How far is it ?"),
        ("MRPC", "He said so."),
        ("MRPC", "He says so."),
        ("SICK", "No boy plays"),
        ("SICK", "A boy plays"),
    ]
    assert found.filter(sentence="Ein Satz.")["words"].to_list() == [["ein", "satz"]]


def test_chinese_is_segmented_as_the_training_data_are(tmp_path: Path) -> None:
    text = "我来到北京清华大学。"
    # The full mode writes overlapping words. Training text that is segmented in that mode has them too.
    found = gathered(tmp_path, tatoeba(tmp_path, "zh", text.encode()), zh="full")
    assert "".join(found["words"][0]) == "我来到北京清华清华大学华大大学"
    assert gathered(tmp_path, tatoeba(tmp_path, "zh", text.encode()), zh="accurate")["words"][0].len() == 9


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: tatoeba(path, "de", b"Hallo!\n\xff\n"), r"tatoeba\.de:2: not UTF-8"),
        (lambda path: tatoeba(path, "de", b""), r"tatoeba\.de: contains no test sentence"),
        (lambda path: bucc(path, "de-1\tja\nde-2\n"), r"bucc\.tar\.bz2: b/de-en\.training\.de:2: 1 columns"),
        (lambda path: bucc(path, "\udcff"), r"bucc\.tar\.bz2: b/de-en\.training\.de:1: not UTF-8"),
        (
            lambda path: senteval(path, **{"SICK/SICK_test_annotated.txt": "a\tb\tc\n1\tno\n"}),
            r"SICK_test_annotated\.txt:2: 2 columns, expected 3 or more",
        ),
        (lambda path: TestFile("senteval", bucc(path).path), r"has no member data/downstream/MR"),
        (lambda path: TestFile("sts", tatoeba(path, "de", b"PK").path), r"tatoeba\.de: damaged"),
        (lambda path: TestFile("tatoeba", path / "none", ("de", "en")), r"none: cannot be read"),
    ],
)
def test_bad_test_sets_are_named(tmp_path: Path, make, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        gathered(tmp_path, make(tmp_path))
    assert "\n" not in str(error.value)
    assert not (tmp_path / "sentences.parquet").exists()


def test_the_test_sets_of_the_mirror_are_read(tmp_path: Path, mirror: Path) -> None:
    file = TestFile("senteval", mirror / "senteval/senteval_data.tar.gz")
    counts = gather_testsets([file], tmp_path / "sentences.parquet", segmentation={}, lowercase=True)
    assert counts == {"senteval": 45_597}
