"""Test that the data of the transfer tasks are read in every format and that every bad line is named."""

import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.testsets import read_testsets
from paraphrastic_pipeline.evaluation.transfer_data import TRANSFER_TASKS, prepare_transfer, transfer_digest
from transfer_archives import judged, polish_files, senteval_members, write_senteval

PUBLISHED = Path(__file__).resolve().parents[2] / "config" / "published"
POLISH = "raw.githubusercontent.com/sdadas/polish-sentence-evaluation/master/resources/downstream"
FOLDERS = {
    "ppc": "PPC", "cr_h": "WCCRS_HOTELS", "cr_m": "WCCRS_MEDICINE",
    "cds": "CDS", "sick": "SICK", "8tags": "8TAGS",
}  # fmt: skip


def prepared(tmp_path: Path, **changed: str | bytes) -> pd.DataFrame:
    members = senteval_members() | {name.replace("__", "/"): text for name, text in changed.items()}
    archive = write_senteval(tmp_path / "senteval.tar.gz", members)
    prepare_transfer("senteval", {"senteval": [archive]}, tmp_path / "senteval.parquet")
    return read_testsets(tmp_path / "senteval.parquet")


def prepared_polish(tmp_path: Path) -> pd.DataFrame:
    prepare_transfer("polish", polish_files(tmp_path), tmp_path / "polish.parquet")
    return read_testsets(tmp_path / "polish.parquet")


def part_of(data: pd.DataFrame, dataset: str, **cells: str | int) -> pd.DataFrame:
    """The rows of a data set that have these cells."""
    for column, value in {"dataset": dataset, **cells}.items():
        data = data[data[column] == value]
    return data


def test_senteval(tmp_path: Path) -> None:
    data = prepared(tmp_path)
    groups = data.groupby(["dataset", "part"])
    assert groups.size().to_dict() == {
        ("MR", "all"): 55, ("CR", "all"): 41, ("SUBJ", "all"): 40, ("MPQA", "all"): 40,
        ("SST", "train"): 80, ("SST", "dev"): 20, ("SST", "test"): 30,
        ("TREC", "train"): 120, ("TREC", "test"): 24, ("MRPC", "train"): 60, ("MRPC", "test"): 30,
        ("SICK", "train"): 90, ("SICK", "dev"): 30, ("SICK", "test"): 45,
    }  # fmt: skip
    rows = {name: group.iloc[0] for name, group in groups}
    row = rows["MR", "all"]
    assert (row["line"], row["sentence1"], row["label"]) == (1, "a fine story and fine film number0", 1)
    assert row[["sentence2", "score"]].isna().all()
    row = rows["TREC", "test"]
    assert (row["sentence1"], row["label"]) == ("word0 of sentence 0", 0)
    row = rows["MRPC", "train"]
    assert (row["line"], row["label"]) == (2, 1)
    assert (row["sentence1"], row["sentence2"]) == (
        "a fine story and fine film number0",
        "a sweet story and fine film number3",
    )
    rows = part_of(data, "SICK", part="test").head(3)
    assert rows["label"].to_list() == [0, 1, 2]
    assert rows["score"].to_list() == [1.5, 3.0, 4.5]
    assert part_of(data, "SUBJ", label=1)["sentence1"].iloc[0] == "a fine story and fine film number0"
    assert part_of(data, "SST")["label"].to_list()[:2] == [0, 1]


def test_folders_that_archives_have(tmp_path: Path) -> None:
    plain = prepared(tmp_path)
    members = senteval_members()
    for folder in ("", "SentEval/data/downstream/"):
        path = write_senteval(
            tmp_path / "other.tar.gz", members | {"__MACOSX/MR/rt-polarity.pos": "x"}, folder
        )
        prepare_transfer("senteval", {"senteval": [path]}, tmp_path / "other.parquet")
        assert read_testsets(tmp_path / "other.parquet").equals(plain)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        for name, text in members.items():
            archive.writestr(f"data/downstream/{name}", text)
    prepare_transfer("senteval", {"senteval": [tmp_path / "other.zip"]}, tmp_path / "other.parquet")
    assert read_testsets(tmp_path / "other.parquet").equals(plain)


def test_sentences_in_latin_1_and_empty_ones(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    data = prepared(
        tmp_path,
        **{
            "MR__rt-polarity.pos": "a clich\u00e9 \n\n  \nfilm\r\n".encode("latin-1"),
            "CR__custrev.pos": "a clich\u00e9\n" * 12,
            "TREC__TREC_10.label": "DESC:x What is a caf\u00e9 ?\n\n".encode("latin-1"),
        },
    )
    assert part_of(data, "MR", label=1)["sentence1"].to_list() == ["a cliché", "", "", "film"]
    assert part_of(data, "CR", label=1)["sentence1"].iloc[0] == "a cliché"
    assert part_of(data, "TREC", part="test")["sentence1"].to_list() == ["What is a café ?"]
    archive = f"{tmp_path}/senteval.tar.gz"
    assert f"{archive}: MR/rt-polarity.pos: read as ISO 8859-1, since it is not UTF-8" in caplog.text


NBSP = "\u00a0\n".encode()
# Files with a bad line, and what the message says after the name of the file.
BAD = {
    "SST/binary/sentiment-dev": [
        (b"fine\t1\ngood \xff\t1\n", ":2: not UTF-8: byte 0xff"),
        (b"fine\t1\ngood\t2\n", ":2: '2' is not one of the classes"),
        (b"fine 1\n", ":1: expected a sentence and its class with a tab"),
        (b"a\t0\n\nb\t1\n", ":2: expected a sentence and its class"),
    ],
    "TREC/TREC_10.label": [
        (b"DESC:x Why ?\nWHY:x Why ?\n", ":2: 'WHY' is not one of"),
        (b"DESC:x\n", ":1: expected CLASS:kind and a sentence"),
    ],
    "MRPC/msr_paraphrase_test.txt": [
        (b"h\n1\t2\t3\ta b\n", ":2: expected 5 columns"),
        (b"h\nyes\t2\t3\ta\tb\n", ":2: 'yes' is not one of the classes"),
        (b"h\n1\t2\t3\t \tb\n", ":2: expected 5 columns"),
        (b"h\n", ": contains no sentence"),
    ],
    "SICK/SICK_trial.txt": [
        (b"h\n1\ta\tb\t0.5\tNEUTRAL\n", ":2: '0.5' is not a score from 1 to 5"),
        (b"h\n1\ta\tb\tnan\tNEUTRAL\n", ":2: the score 'nan' is not a number"),
        (b"h\n1\ta\tb\t\tNEUTRAL\n", ":2: the score '' is not a number"),
        (b"h\n1\ta\tb\t2\tneutral\n", ":2: 'neutral' is not one of the classes"),
    ],
    # A mark of the byte order, and blanks that Unicode has.
    **{
        name: [
            (content, ": contains no sentence") for content in (b"", b"\n \n", b"\xef\xbb\xbf", b"\xc2\xa0\n")
        ]
        for name in ("MR/rt-polarity.pos", "SST/binary/sentiment-test", "TREC/train_5500.label")
    },
}


@pytest.mark.parametrize(
    ("name", "content", "message"), [(name, *case) for name in BAD for case in BAD[name]]
)
def test_bad_lines_are_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    expected = re.escape(f"{tmp_path}/senteval.tar.gz: {name}{message}")
    with pytest.raises(InputError, match=f"^{expected}"):
        prepared(tmp_path, **{name.replace("/", "__"): content})
    assert not (tmp_path / "senteval.parquet").exists()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    members = senteval_members()
    del members["MRPC/msr_paraphrase_train.txt"]
    path = write_senteval(tmp_path / "senteval.tar.gz", members)
    with pytest.raises(InputError, match=r"senteval\.tar\.gz: MRPC/msr_paraphrase_train\.txt is missing"):
        prepare_transfer("senteval", {"senteval": [path]}, tmp_path / "senteval.parquet")


def test_polish(tmp_path: Path) -> None:
    data = prepared_polish(tmp_path)
    assert len(data[["dataset", "part"]].drop_duplicates()) == 18
    row = part_of(data, "ppc", part="test").iloc[2]
    assert (row["line"], row["label"]) == (4, 2)
    assert np.isnan(row["score"])
    row = part_of(data, "8tags", part="dev").iloc[7]
    assert (row["sentence1"], row["label"]) == ("word7 of sentence 7", 7)
    row = part_of(data, "cds", part="dev").iloc[1]
    assert (row["label"], row["score"]) == (1, 3.0)


def test_bad_polish_files_are_named(tmp_path: Path) -> None:
    files = polish_files(tmp_path)
    output = tmp_path / "polish.parquet"
    tags = files["8tags"][1]
    tags.write_text("1 film\n9 film\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(f"{tags}:2: '9' is not one of the classes")):
        prepare_transfer("polish", files, output)
    tags.write_text("1 film\n2\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(f"{tags}:2: expected a class and a sentence")):
        prepare_transfer("polish", files, output)
    with pytest.raises(InputError, match=r"train\.txt.*: expected one file with test in its name"):
        prepare_transfer("polish", files | {"ppc": files["ppc"][:2]}, output)
    files["cds"][0].write_text(judged(3).replace("1.5", "0"), encoding="utf-8")
    tags.write_text("1 film\n", encoding="utf-8")
    prepare_transfer("polish", files, output)
    assert read_testsets(output)["score"].min() == 0


def test_digests_are_of_the_content_and_not_of_white_space(tmp_path: Path) -> None:
    data, tasks = prepared(tmp_path), {task.name: task for task in TRANSFER_TASKS["senteval"]}
    plain = {name: transfer_digest(task, part_of(data, task.dataset)) for name, task in tasks.items()}
    text = senteval_members()["SICK/SICK_train.txt"]
    for changed, old, new in (
        (set(), "lovely story", "lovely  sto ry"),
        ({"SICK-R", "SICK-E"}, "lovely", "Lovely"),
        ({"SICK-R"}, "4.5\t", "4.4\t"),
        ({"SICK-E"}, "3.0\tNEUTRAL", "3.0\tENTAILMENT"),
    ):
        other = prepared(tmp_path, **{"SICK__SICK_train.txt": text.replace(old, new)})
        digests = {name: transfer_digest(task, part_of(other, task.dataset)) for name, task in tasks.items()}
        assert {name for name in tasks if digests[name] != plain[name]} == changed


@pytest.mark.slow("reads the official archives")
def test_the_real_data_are_official(mirror: Path, tmp_path: Path) -> None:
    archive = mirror / "senteval/senteval_data.tar.gz"
    prepare_transfer("senteval", {"senteval": [archive]}, tmp_path / "senteval.parquet")
    files = {dataset: list((mirror / POLISH / folder).glob("*.txt")) for dataset, folder in FOLDERS.items()}
    files = {name: [path for path in paths if path.name != "README.txt"] for name, paths in files.items()}
    prepare_transfer("polish", files, tmp_path / "polish.parquet")
    for suite in ("senteval", "polish"):
        data = read_testsets(tmp_path / f"{suite}.parquet")
        digests = json.loads((PUBLISHED / f"{suite}_digests.json").read_text())
        assert digests == {
            task.name: transfer_digest(task, part_of(data, task.dataset)) for task in TRANSFER_TASKS[suite]
        }
    sizes = data.groupby("dataset").size()
    # The paper's section V gives 7,000 pairs of PPC, about 10,000 pairs of SICK and about 50,000 sentences
    # of 8TAGS.
    assert sizes["ppc"] == 7_000
    assert sizes["8tags"] == 49_373
