"""Test how corpora in Parquet are read: their columns, and rows that cannot be read."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from extraction import extract, fault, pairs, parquet


@pytest.mark.parametrize(
    "columns",
    [
        {"de": ["eins", "zwei"], "en": ["one", "two"]},
        {"translation": [{"en": "one", "de": "eins"}, {"en": "two", "de": "zwei"}]},
        {"target": pa.array(["eins", "zwei"]).dictionary_encode(), "source": ["one", "two"]},
    ],
)
def test_parquet_columns(tmp_path, columns):
    counts, rows, _ = extract(tmp_path, "parquet", parquet(tmp_path, **columns))
    assert counts == {"lines": 2, "pairs": 2, "unreadable": 0}
    assert rows[1] == {"source": "two", "target": "zwei", "line": 2}


def test_parquet_columns_by_name_in_the_files_order(tmp_path):
    path = parquet(tmp_path, s=["eins"], t=["one\ntwo"], score=[0.1], laser=[0.7])
    _, rows, _ = extract(tmp_path, "parquet", path, columns=("s", "t", "laser"), order=("de", "en"))
    assert pairs(rows) == [("one two", "eins")]
    assert rows[0]["paraphrase_score"] == pytest.approx(0.7)


def test_unreadable_rows_of_parquet(tmp_path):
    bad = pa.array([b"eins", b"caf\xe9", b"drei", b"vier"] + [b"x"] * 5).view(pa.string())
    most = 1 << 20
    english = [
        "one",
        "two",
        None,
        "four",
        "f\0ive",
        "x" * most,
        "x" * (most + 1),
        "é" * (most // 2 + 1),
        "nine",
    ]
    path = parquet(tmp_path, en=english, de=bad, score=[1.0, 1.0, 1.0, None, 1.0, 1.0, 1.0, 1.0, 1e39])
    counts, rows, faults = extract(tmp_path, "parquet", path, bound=7)
    assert counts == {"lines": 9, "pairs": 2, "unreadable": 7}
    assert pairs(rows) == [("one", "eins"), ("x" * most, "x")]
    assert faults == [
        "2\tde: not UTF-8: byte 0xe9",
        "3\ten: is missing",
        "4\tthe score None is not a number",
        "5\ten: contains a NUL character, which is not valid in text",
        "7\ten: longer than 1048576 bytes",
        "8\ten: longer than 1048576 bytes",
        "9\tthe score 1e+39 is too large",
    ]


def test_parquet_with_two_columns_of_one_name(tmp_path):
    path = tmp_path / "mine.parquet"
    texts = pa.array(["one"])
    inner = pa.StructArray.from_arrays([texts, texts, texts], names=["en", "de", "en"])
    for columns, names, told in [
        ([texts, texts, texts], ["en", "de", "en"], "en"),
        ([texts, inner], ["source", "translation"], "translation.en"),
        ([pa.array([{"en": "x"}]), pa.array([{"de": "y"}])], ["translation", "translation"], "translation"),
        ([texts, pa.array([{"en": "x"}])], ["translation.en", "translation"], "translation.en"),
    ]:
        pq.write_table(pa.Table.from_arrays(columns, names=names), path)
        assert fault(tmp_path, "parquet", path, bound=9) == f"{path}: has 2 columns {told!r}"


@pytest.mark.parametrize(
    ("columns", "cause"),
    [
        ({"a": ["x"], "b": ["y"]}, "no columns en and de, or source and target; it has 'a, b'"),
        ({"en": [1], "de": ["y"]}, "the column 'en' holds int64, not text"),
        ({"en": pa.array([], pa.string()), "de": pa.array([], pa.string())}, "the corpus is empty: no lines"),
    ],
)
def test_parquet_without_the_text(tmp_path, columns, cause):
    assert cause in fault(tmp_path, "parquet", parquet(tmp_path, **columns), bound=100)


def test_damaged_parquet(tmp_path):
    path = parquet(tmp_path, en=["one"] * 1000, de=["eins"] * 1000)
    path.write_bytes(path.read_bytes()[:-10])
    assert "mine.parquet: not readable as Parquet" in fault(tmp_path, "parquet", path, bound=100)
    path.write_text("en\tde\n")
    assert "mine.parquet: not readable as Parquet" in fault(tmp_path, "parquet", path, bound=100)
