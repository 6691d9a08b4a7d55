"""Test what identifies rows: its types, from one table to another, and rows that lack it."""

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sentence_files import cells_of, embed, error_of, search, write


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return pl.read_parquet(path).to_dicts()


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_an_identity_that_cannot_be_kept_costs_its_row_alone(
    folder: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    values = ["NaN", '"\\ud800x"', "1", "[2]", "1e400", "null"]
    write(tmp_path / "in.jsonl", [f'{{"id": {value}, "text": "a"}}' for value in values])
    output = tmp_path / f"v.{kind}"
    options = ["--column", "text", "--id", "id", "--batch", 2]
    assert embed(folder, tmp_path / "in.jsonl", output, *options) == 0
    told = capsys.readouterr().err
    assert [line.split("in.jsonl:")[1] for line in told.splitlines()] == [
        "1: id: is missing",
        "2: id: half of a surrogate pair",
        "4: id: [2] is not a single value",
        "5: id: is infinite",
        "6: id: is missing",
    ]
    assert [row["id"] for row in rows_of(output)] == [1]


# Columns of Arrow that identify rows, and how the first value is written among text.
MOMENT = pa.array([1577836800123456789, 2], pa.timestamp("ns"))
KINDS = {
    "large": (pa.array([2**63 + 5, 1], pa.uint64()), 2**63 + 5),
    "float": (pa.array([0.1, 2.0], pa.float32()), 0.10000000149011612),
    "truth": (pa.array([True, False]), True),
    "day": (pa.array([datetime.date(2020, 2, 3), datetime.date(2021, 1, 1)]), "2020-02-03"),
    "moment": (MOMENT, "2020-01-01 00:00:00.123456789"),
    "decimal": (pa.array([Decimal("12.50"), Decimal("3.10")]), "12.50"),
    "bytes": (pa.array([b"\xff\x00", b"a"]), "ff00"),
    "uuid": (pa.array([bytes(range(16)), b"a" * 16], pa.uuid()), "00010203-0405-0607-0809-0a0b0c0d0e0f"),
    "view": (pa.array(["x", "y"], pa.string_view()), "x"),
    "exact": (pa.array(["a\tb\u0085 ", "a b"]), "a\tb\u0085 "),
    "coded": (pa.array(["x", "y"]).dictionary_encode(), "x"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gap", [False, True])
def test_identities_of_parquet_keep_their_types(
    folder: Path, tmp_path: Path, kind: str, gap: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    column, name = KINDS[kind]
    # A row that cannot be read between them is left out.
    texts = ["the dog", None if gap else "the cat", "it rains"]
    column = pa.concat_arrays([column, column.slice(1)])
    pq.write_table(pa.table({"id": column, "text": texts}), tmp_path / "in.parquet")
    options = ["--column", "text", "--id", "id", "--batch", 2]
    assert embed(folder, tmp_path / "in.parquet", tmp_path / "v.parquet", *options) == 0
    kept = pq.read_table(tmp_path / "v.parquet")["id"]
    assert kept.type == column.type
    assert kept.to_pylist() == [column[row].as_py() for row in ([0, 2] if gap else [0, 1, 2])]
    assert embed(folder, tmp_path / "in.parquet", tmp_path / "v.jsonl", *options) == 0
    first = rows_of(tmp_path / "v.jsonl")[0]["id"]
    assert (first, type(first)) == (name, type(name))
    capsys.readouterr()
    words = ["--column", "text", "--id", "id", "--k", 1]
    assert search(folder, tmp_path / "v.parquet", tmp_path / "in.parquet", "-", *words) == 0
    # Cells of a table have no tabs.
    shown = "true" if name is True else str(name).replace("\t", " ").replace("\u0085", " ").strip()
    assert capsys.readouterr().out.splitlines()[0].split("\t")[1:] == [shown, "1", shown]


def test_values_with_parts_do_not_identify_rows(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(pa.table({"id": [[1], [2]], "text": ["a", "b"]}), tmp_path / "in.parquet")
    options = ["--column", "text", "--id", "id"]
    assert embed(folder, tmp_path / "in.parquet", tmp_path / "v.parquet", *options) == 1
    assert "in.parquet: 'id': list<element: int64> cannot identify rows" in error_of(capsys)


def test_rows_that_were_left_out_for_their_identities(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(1, "the dog"), ("x", "a cat"), (None, "it"), (2, "it rains")]
    lines = write(tmp_path / "in.jsonl", [json.dumps({"n": name, "t": text}) for name, text in rows])
    assert embed(folder, lines, tmp_path / "v.parquet", "--column", "t", "--id", "n") == 0
    queries = write(tmp_path / "q.txt", ["it rains"])
    words = ["--sentences", lines, "--sentences-column", "t", "--k", 1]
    capsys.readouterr()
    assert search(folder, tmp_path / "v.parquet", queries, tmp_path / "out.tsv", *words) == 1
    error = error_of(capsys)
    assert "in.jsonl has 4 rows that can be read, but" in error
    assert "has 2; if some were left out for their identities, --sentences-id names the column" in error
    words += ["--sentences-id", "n"]
    assert search(folder, tmp_path / "v.parquet", queries, tmp_path / "out.tsv", *words) == 0
    assert cells_of(tmp_path / "out.tsv")[0][3:] == ["2", "it rains", "it rains"]
