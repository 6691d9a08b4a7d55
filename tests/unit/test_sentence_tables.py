"""Test `search`, `dedup` and `mine` on tables, and searches in Parquet files."""

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sentence_files import SENTENCES, cells_of, dedup, embed, error_of, mine, search, write
from small_corpus import PAIRS

from paraphrastic import search as search_vectors
from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic.model.average import AverageEncoder

TEXTS = [*SENTENCES[:60], "", *SENTENCES[:3]]
NAMES = [f"row-{place}" for place in range(len(TEXTS))]


def table_of(path: Path, texts: list[str] = TEXTS, names: list[str] = NAMES) -> Path:
    """Write a table with the columns `name`, `text` and `more`; cells of a CSV file have ends of lines."""
    more = [f'{name},\n"{name}"' for name in names]
    frame = pl.DataFrame({"name": names, "text": texts, "more": more})
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\r\n")
            writer.writerows([frame.columns, *frame.rows()])
    elif path.suffix == ".tsv":
        lines = ["\t".join(map(str, row)).replace("\n", " ") for row in [frame.columns, *frame.rows()]]
        write(path, lines)
    elif path.suffix == ".jsonl":
        write(path, [json.dumps(row, ensure_ascii=False) for row in frame.to_dicts()])
    else:
        frame.write_parquet(path)
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".tsv":
        header, *lines = [line.split("\t") for line in path.read_text().splitlines()]
        return [dict(zip(header, line, strict=True)) for line in lines]
    return pl.read_parquet(path).to_dicts()


@pytest.fixture
def index(folder: Path, tmp_path: Path) -> Path:
    """A folder with the vectors of sentences in three Parquet files."""
    (tmp_path / "shards").mkdir()
    names = [f"s{place}" for place in range(len(SENTENCES))]
    for shard, places in enumerate(np.array_split(np.arange(len(SENTENCES)), 3)):
        chosen = [[of[place] for place in places] for of in (SENTENCES, names)]
        source = table_of(tmp_path / "part.csv", *chosen)
        output = tmp_path / f"shards/{shard}.parquet"
        assert embed(folder, source, output, "--column", "text", "--id", "name", "--batch", 7) == 0
    return tmp_path / "shards"


def test_a_folder_of_parquet_files_is_searched_like_a_matrix(
    folder: Path, index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write(tmp_path / "corpus.txt", SENTENCES)
    assert embed(folder, corpus, tmp_path / "v.npy") == 0
    queries = write(tmp_path / "q.txt", [PAIRS[200][0], "", PAIRS[3][1]])
    found = {}
    for place in (tmp_path / "v.npy", index):
        output = tmp_path / "out.tsv"
        assert search(folder, place, queries, output, "--sentences", corpus) == 0
        assert capsys.readouterr().err == ""
        found[place] = cells_of(output)
    assert len(found[index]) == 20
    for row, named in zip(found[tmp_path / "v.npy"], found[index], strict=True):
        assert named == [*row[:3], f"s{int(row[3]) - 1}", *row[4:]]
    for path in (index, index / "0.parquet"):
        vectors = np.stack([row["vector"] for row in pl.read_parquet(path).to_dicts()])
        neighbours = search_vectors(path, vectors[:2], k=2)
        np.testing.assert_array_equal(neighbours.indices, search_vectors(vectors, vectors[:2], k=2).indices)


def test_the_file_says_which_model_made_it(
    folder: Path, changed: Callable[..., Path], index: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    other, output = changed("other", model="other"), tmp_path / "out.tsv"
    queries = write(tmp_path / "q.txt", ["the dog"])
    assert search(other, index, queries, output) == 1
    assert "made by the model" in error_of(capsys)
    # Other programs keep what they do not know, or drop it.
    pl.read_parquet(index / "0.parquet").write_parquet(tmp_path / "plain.parquet")
    assert search(other, tmp_path / "plain.parquet", queries, output) == 0
    assert "it is not known which model made it" in capsys.readouterr().err
    table_of(tmp_path / "t.csv")
    assert embed(other, tmp_path / "t.csv", index / "3.parquet", "--column", "text") == 0
    assert search(folder, index, queries, output) == 1
    assert error_of(capsys) == f"{index}/3.parquet: another model made it than {index}/0.parquet"


def damaged(path: Path, kind: str) -> str:
    """Write a file that is no table of vectors, and return the cause that should be given."""
    vector: Any = [[1.0, 2.0], [3.0, 4.0]]
    if kind == "no Parquet":
        path.write_bytes(b"PAR1 and no more")
        return f"{path}: cannot be read: "
    name = "other" if kind == "no column" else "vector"
    if kind == "words":
        vector = ["a", "b"]
    elif kind == "ragged":
        vector = pl.Series([[1.0, 2.0], [3.0]], dtype=pl.List(pl.Float32))
    elif kind == "a null":
        vector = pl.Series([[1.0, 2.0], None], dtype=pl.List(pl.Float32))
    elif kind == "a null inside":
        vector = pl.Series([[1.0, 2.0], [None, 1.0]], dtype=pl.List(pl.Float32))
    pl.DataFrame({name: vector}).write_parquet(path)
    return {
        "no column": f"{path}: has no column 'vector', but 'other'",
        "words": f"{path}: column 'vector' has ",
        "dimension": f"has vectors of 3 dimensions, but those of {path} have 2",
    }.get(kind, f"{path}: not every row has a vector of 2 numbers in column 'vector'")


@pytest.mark.parametrize(
    "kind", ["no Parquet", "no column", "words", "ragged", "a null", "a null inside", "dimension"]
)
def test_files_that_are_no_tables_of_vectors(tmp_path: Path, kind: str) -> None:
    cause = damaged(tmp_path / "v.parquet", kind)
    place = tmp_path / "v.parquet"
    if kind == "dimension":
        pl.DataFrame({"vector": [[1.0, 2.0, 3.0]]}).write_parquet(tmp_path / "w.parquet")
        place = tmp_path
    with pytest.raises(InputError) as error:
        search_vectors(place, np.ones((1, 2), np.float32), k=1)
    assert cause in str(error.value)
    assert "\n" not in str(error.value)


def test_places_without_vectors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a folder without .parquet files"):
        search_vectors(tmp_path, np.ones((1, 2), np.float32))
    with pytest.raises(InputError, match=r"no.parquet: cannot be read"):
        search_vectors(tmp_path / "no.parquet", np.ones((1, 2), np.float32))


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_queries_of_a_table(folder: Path, index: Path, tmp_path: Path, kind: str) -> None:
    table = table_of(tmp_path / f"q.{kind}", [PAIRS[200][0], "", PAIRS[3][1]], ["a", "b", "c"])
    lines = write(tmp_path / "q.txt", [PAIRS[200][0], "", PAIRS[3][1]])
    assert search(folder, index, lines, tmp_path / "lines.tsv") == 0
    for options, names in [((), "123"), (("--id", "name"), "abc")]:
        assert search(folder, index, table, tmp_path / "out.tsv", "--column", "text", *options) == 0
        expected = cells_of(tmp_path / "lines.tsv")
        for row in expected:
            row[1] = names[int(row[1]) - 1]
        found = cells_of(tmp_path / "out.tsv")
        assert found == expected


def test_a_query_that_cannot_be_read_finds_nothing(
    folder: Path, index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "q.csv"
    source.write_bytes(b"name,text\na,the dog\nb,\xff\nc,the cat\n")
    assert search(folder, index, source, tmp_path / "out.tsv", "--column", "text", "--id", "name") == 0
    assert capsys.readouterr().err.startswith(f"paraphrastic: {source}:3: ")
    assert {line.split("\t")[1] for line in (tmp_path / "out.tsv").read_text().splitlines()} == {"a", "c"}
    assert search(folder, index, source, tmp_path / "out.tsv", "--column", "text", "--strict") == 1
    assert f"{source}:3: " in error_of(capsys)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_a_table_loses_its_near_duplicates(
    folder: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table, lines = table_of(tmp_path / f"in.{kind}"), write(tmp_path / "in.txt", TEXTS)
    before = rows_of(table)
    assert (
        dedup(folder, lines, tmp_path / "kept.txt", "--threshold", 0.7, "--report", tmp_path / "l.tsv") == 0
    )
    counts = capsys.readouterr().err.removeprefix("paraphrastic: lines kept")
    more = ["--threshold", 0.7, "--report", tmp_path / "t.tsv", "--column", "text", "--id", "name"]
    output = tmp_path / f"kept.{kind}"
    assert dedup(folder, table, output, *more) == 0
    assert capsys.readouterr().err == f"paraphrastic: rows kept{counts}"
    reports = [cells_of(tmp_path / name) for name in ("l.tsv", "t.tsv")]
    assert len(reports[0]) > 5
    dropped = {int(row[1]) - 1 for row in reports[0]}
    assert rows_of(output) == [row for place, row in enumerate(before) if place not in dropped]
    for line, row in zip(*reports, strict=True):
        assert row == [line[0], NAMES[int(line[1]) - 1], NAMES[int(line[2]) - 1], *line[3:]]
    if kind != "parquet":
        whole = table.read_bytes()
        assert all(line in whole for line in output.read_bytes().splitlines(keepends=True))
    else:
        assert pl.read_parquet(output).schema == pl.read_parquet(table).schema


def test_a_large_table_loses_the_right_rows(folder: Path, tmp_path: Path) -> None:
    texts = [f"{number % 4000}" for number in range(5000)]
    pl.DataFrame({"n": range(5000), "text": texts}).write_parquet(tmp_path / "in.parquet")
    words = ["--column", "text", "--threshold", 1, "--report", tmp_path / "report.tsv"]
    assert dedup(folder, tmp_path / "in.parquet", tmp_path / "out.parquet", *words) == 0
    dropped = {int(line.split("\t")[1]) - 1 for line in (tmp_path / "report.tsv").read_text().splitlines()}
    assert {*range(4000, 5000)} <= dropped
    kept = [row for row in range(5000) if row not in dropped]
    assert pl.read_parquet(tmp_path / "out.parquet")["n"].to_list() == kept


def test_a_table_without_rows_is_searched(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("text\n")
    assert embed(folder, tmp_path / "in.csv", tmp_path / "v.parquet", "--column", "text") == 0
    queries = write(tmp_path / "q.txt", ["the dog"])
    assert search(folder, tmp_path / "v.parquet", queries, tmp_path / "out.tsv") == 0
    assert (tmp_path / "out.tsv").read_text() == ""


def test_rows_that_cannot_be_read_are_kept(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    rows = [
        b'a,"the dog\nruns",1', b"b,the dog runs,2", b'c,"x\n\xff\ny",3', b"d,too,many,cells", b"",
        b'e,"the dog\nruns",4', b"f,the dog runs,5", b"g,\xff,6",
    ]  # fmt: skip
    source.write_bytes(b"\n".join([b"name,text,n", *rows]))
    assert dedup(folder, source, output, "--column", "text", "--threshold", 1) == 0
    assert output.read_bytes() == b"\n".join(
        [b"name,text,n", *(row for row in rows if row[:1] not in (b"b", b"e", b"f"))]
    )
    assert "rows kept: 4, left out: 3" in capsys.readouterr().err
    assert dedup(folder, source, output, "--column", "text", "--threshold", 1, "--strict") == 1
    assert f"{source}:" in error_of(capsys)


@pytest.mark.parametrize(("source", "output"), [("in.parquet", "out.csv"), ("in.csv", "out.parquet")])
def test_a_table_keeps_its_format(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, output: str
) -> None:
    table = table_of(tmp_path / source)
    assert dedup(folder, table, tmp_path / output, "--column", "text") == 1
    assert f"{output}: the rows of {table} are kept as they are" in error_of(capsys)
    assert not (tmp_path / output).exists()


def test_a_column_needs_a_table(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = write(tmp_path / "in.txt", TEXTS)
    assert dedup(folder, lines, tmp_path / "out.txt", "--column", "text") == 1
    assert "in.txt: is read line by line" in error_of(capsys)


def test_tables_are_mined(folder: Path, tmp_path: Path, model: AverageEncoder) -> None:
    sides = [[pair[side] for pair in PAIRS[:40]] for side in (0, 1)]
    texts = [write(tmp_path / f"{side}.txt", sides[side]) for side in (0, 1)]
    tables = [
        table_of(tmp_path / f"t{side}.{kind}", sides[side], [f"{side}/{place}" for place in range(40)])
        for side, kind in enumerate(("csv", "parquet"))
    ]
    found = []
    for (source, target), options in [(texts, []), (tables, ["--column", "text", "--id", "name"])]:
        words = ["mine", "--model", folder, "--source", source, "--target", target, "--ids", *options]
        assert main([*map(str, words), "--output", str(tmp_path / "out.tsv")]) == 0
        found.append(cells_of(tmp_path / "out.tsv"))
    assert len(found[0]) > 10
    for line, row in zip(*found, strict=True):
        assert row == [*line[:3], f"0/{int(line[3]) - 1}", f"1/{int(line[4]) - 1}"]
    # One side may be lines.
    words = ["mine", "--model", folder, "--source", texts[0], "--target", tables[1], "--column", "text"]
    assert main([*map(str, words), "--output", str(tmp_path / "out.tsv")]) == 0
    assert cells_of(tmp_path / "out.tsv") == [row[:3] for row in found[0]]


POEM = """id,text
2,yes
1,"Dear all, thanks
Roses are red, yes
Violets are blue, too
Sugar is sweet, and
so are you, dear"
3,It rains.
"""


def test_lines_of_prose_in_a_cell_are_no_rows(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(POEM)
    words = ["--column", "text", "--threshold", 1]
    assert dedup(folder, tmp_path / "in.csv", tmp_path / "out.csv", *words) == 0
    assert (tmp_path / "out.csv").read_text() == POEM
    assert embed(folder, tmp_path / "in.csv", tmp_path / "v.jsonl", "--column", "text", "--id", "id") == 0
    assert [json.loads(line)["id"] for line in (tmp_path / "v.jsonl").read_text().splitlines()] == [
        "2",
        "1",
        "3",
    ]


def test_a_row_goes_with_all_its_lines_if_two_columns_have_one_name(folder: Path, tmp_path: Path) -> None:
    lines = ["key,note,text,note", "k1,a,the dog,b", 'k2,"p', 'q",the dog,w', "k3,c,a cat,d"]
    write(tmp_path / "in.csv", lines)
    words = ["--column", "text", "--id", "key", "--threshold", 1]
    assert dedup(folder, tmp_path / "in.csv", tmp_path / "out.csv", *words) == 0
    assert (tmp_path / "out.csv").read_text().splitlines() == [*lines[:2], lines[4]]


def test_columns_and_a_second_file_exclude_each_other(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, lines = write(tmp_path / "a.csv", ["x,y", "a,b"]), write(tmp_path / "b.txt", ["c", "d"])
    words = ["score", "--model", folder, "--input", table, "--columns", "x", "y", "--second", lines]
    assert main([*map(str, words), "--output", "-"]) == 1
    assert "columns are those of one table" in error_of(capsys)


def test_the_sentences_of_a_table_with_bad_rows_are_found(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ["the dog", None, "a cat", "it rains"]
    pl.DataFrame({"text": texts}).write_parquet(tmp_path / "in.parquet")
    assert embed(folder, tmp_path / "in.parquet", tmp_path / "v.parquet", "--column", "text") == 0
    queries = write(tmp_path / "q.txt", ["it rains"])
    words = ["--sentences", tmp_path / "in.parquet", "--column", "text", "--k", 1]
    assert search(folder, tmp_path / "v.parquet", queries, tmp_path / "out.tsv", *words) == 0
    assert (tmp_path / "out.tsv").read_text().split("\t")[3:] == ["4", "it rains", "it rains\n"]


def test_two_tables_have_columns_of_their_own(folder: Path, tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", ["n,de", "1,the dog", "2,it rains"])
    target = write(tmp_path / "b.csv", ["key,en", "x,it rains", "y,the dog"])
    words = ["--column", "de", "--target-column", "en", "--id", "n", "--target-id", "key", "--ids"]
    assert mine(folder, source, target, tmp_path / "out.tsv", *words) == 0
    assert {(row[3], row[4]) for row in cells_of(tmp_path / "out.tsv")} == {("1", "y"), ("2", "x")}
    # One table may have both sides, and one side may be lines.
    both = write(tmp_path / "both.csv", ["de,en", "the dog,it rains", "it rains,the dog"])
    lines = write(tmp_path / "lines.txt", ["the dog", "it rains"])
    for first, second, columns in (
        (both, both, ["--column", "de", "--target-column", "en"]),
        (lines, target, ["--target-column", "en"]),
    ):
        assert mine(folder, first, second, tmp_path / "out.tsv", *columns) == 0
        assert all(row[1] == row[2] for row in cells_of(tmp_path / "out.tsv"))
    assert embed(folder, target, tmp_path / "v.npy", "--column", "en") == 0
    words = ["--sentences", target, "--column", "de", "--sentences-column", "en", "--k", 1]
    assert search(folder, tmp_path / "v.npy", source, tmp_path / "out.tsv", *words) == 0
    assert [row[3:] for row in cells_of(tmp_path / "out.tsv")] == [
        ["2", "the dog", "the dog"],
        ["1", "it rains", "it rains"],
    ]


def test_strict_holds_for_the_sentences_of_a_search(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = write(tmp_path / "in.csv", ["t,n", "the dog,1", "a,cat,2", "it rains,3"])
    assert embed(folder, table, tmp_path / "v.npy", "--column", "t") == 0
    capsys.readouterr()
    words = ["--sentences", table, "--sentences-column", "t", "--k", 1]
    queries = write(tmp_path / "q.txt", ["it rains"])
    assert search(folder, tmp_path / "v.npy", queries, tmp_path / "out.tsv", *words) == 0
    assert not capsys.readouterr().err
    assert search(folder, tmp_path / "v.npy", queries, tmp_path / "out.tsv", *words, "--strict") == 1
    assert "in.csv:3: 3 columns, the header has 2" in error_of(capsys)
    # The place of a sentence that differs is its line.
    cells = ['"of two\nlines",0', "another,1", "tea,2", "sugar,3"]
    other = write(tmp_path / "other.csv", ["t,n", *cells[: np.load(tmp_path / "v.npy").shape[0]]])
    words[1] = other
    assert search(folder, tmp_path / "v.npy", queries, tmp_path / "out.tsv", *words) == 1
    assert "other.csv:2: is not the sentence of row 1" in error_of(capsys)


def test_pipes_and_compressed_outputs_that_cannot_work_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "in.parquet")
    assert embed(folder, tmp_path / "in.parquet", tmp_path / "v.npy", "--column", "text") == 1
    assert "Parquet cannot be read from a pipe" in error_of(capsys)
    lines = write(tmp_path / "in.txt", ["the dog"])
    assert dedup(folder, lines, tmp_path / "out.txt.gz") == 1
    assert "output is not compressed; choose a name without .gz" in error_of(capsys)
