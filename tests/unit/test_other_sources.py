"""Test that STS and BUCC from other sources are what their own archives hold."""

import gzip
import hashlib
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from archives import make_tar
from pyarrow.parquet import write_table
from test_bucc import prepared as prepared_bucc
from test_sts import archive_members

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.bitext_data import prepare_bucc
from paraphrastic_pipeline.evaluation.sts_data import prepare_sts, track_of
from paraphrastic_pipeline.evaluation.testsets import content_digest, gold_digest

ENGLISH = [("A man sings.", "A man is singing.", 4.6), ('He says "no".', "Nobody\tspeaks.", 0)]


def json_lines(path: Path, rows: list[tuple[str, str, float]]) -> Path:
    keys = ("sentence1", "sentence2", "score")
    text = "".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_tracks_of_sts_beside_the_archive_of_senteval(tmp_path: Path) -> None:
    members = {name: text.encode() for name, text in archive_members().items() if "STS17" not in name}
    members["senteval/STS/STSBenchmark/sts-dev.csv"] = b"main-news\tMSRpar\t2012\t1\t2.5\tone\ttwo\n"
    members["senteval/MR/rt-polarity.pos"] = b"\xff"
    archive = make_tar(tmp_path / "senteval.tar", members, "w")
    files = [json_lines(tmp_path / name, ENGLISH) for name in ("en-en.jsonl.gz", "en-ar.jsonl.gz")]
    prepare_sts([archive, *files], tmp_path / "open.parquet")
    pairs = pd.read_parquet(tmp_path / "open.parquet")
    assert len(pairs[["year", "dataset"]].drop_duplicates()) == 25 + 2 + 1
    assert pairs[pairs["dataset"] == "ar-en"]["gold"].to_list() == [4.6, 0]
    own = {f"STS/{name}": text.encode() for name, text in map(track_of, files)} | members
    prepare_sts(make_tar(tmp_path / "STS.tar", own), tmp_path / "own.parquet")
    assert pairs.equals(pd.read_parquet(tmp_path / "own.parquet"))
    digest = content_digest("2017", "en-en", pairs.query("year == '2017' and dataset == 'en-en'"))
    text = 'A man sings.\tA man is singing.\t4.600\nHe says "no".\tNobody speaks.\t0.000\n'
    assert digest == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("name", "content", "cause"),
    [
        ("ko-ko.jsonl.gz", '{"sentence1": "a", "sentence2": "b", "score": 1}\n', "ko-ko"),
        ("en-en.jsonl.gz", '{"sentence1": "a", "sentence2": "b", "score": 1}\n{"score": 1}\n', "line 2"),
        ("en-en.jsonl.gz", "[1]\n", "sentence1"),
        ("en-en.jsonl.gz", "<html>\n", ""),
    ],
)
def test_a_file_that_is_no_track(tmp_path: Path, name: str, content: str, cause: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(content.encode()))
    with pytest.raises(InputError, match=f"^{tmp_path / name}") as caught:
        track_of(tmp_path / name)
    assert cause in str(caught.value)


COLUMNS = ("sentence1", "sentence2", "gold")
GERMAN, OTHER, GOLD = ["Eins.", " Zwei. "], ["Two.", "One.", "Three."], [[1, 2], [2, 1]]


def written(path: Path, *lists: object) -> Path:
    write_table(pa.table(dict(zip(COLUMNS, [[one] for one in lists], strict=True))), path)
    return path


def prepared(path: Path) -> list[Path]:
    outputs = [path.with_name("sentences.parquet"), path.with_name("pairs.parquet")]
    prepare_bucc(path, *outputs, languages=("de", "en"), members=COLUMNS)
    return outputs


def test_bucc_in_one_row_of_lists(tmp_path: Path) -> None:
    texts = [
        "".join(f"{code}-{number:09d}\t{text.strip()}\n" for number, text in enumerate(side, start=1))
        for code, side in (("de", GERMAN), ("en", OTHER))
    ]
    gold = "de-000000001\ten-000000002\nde-000000002\ten-000000001\n"
    (tmp_path / "own").mkdir()
    own = prepared_bucc(tmp_path / "own", *texts, gold)
    for left, right in zip(
        prepared(written(tmp_path / "de-en.parquet", GERMAN, OTHER, GOLD)), own, strict=True
    ):
        assert pd.read_parquet(left).equals(pd.read_parquet(right))
    assert (
        gold_digest(pd.read_parquet(own[1]).itertuples(index=False, name=None))
        == hashlib.sha256(gold.encode()).hexdigest()
    )


@pytest.mark.parametrize("gold", [[[0, 1]], [[3, 1]], [[1, 4]], [[1]], [1], []])
def test_gold_pairs_of_bucc_are_numbers_of_sentences(tmp_path: Path, gold: list[object]) -> None:
    path = written(tmp_path / "de-en.parquet", GERMAN, OTHER, gold)
    if not gold:
        path.write_bytes(b"<html>")
    with pytest.raises(InputError, match=f"^{path}: "):
        prepared(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
