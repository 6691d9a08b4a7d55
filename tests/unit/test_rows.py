"""Test rows of text from lines, aligned files and tables, and what a row costs that cannot be read."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sentence_files import embed, score, search

from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import Source
from paraphrastic.model.average import AverageEncoder

CSV = 'number,text\n7,"A dog, barking"\n8,"It rains\nin Paris"\n9,three,cells\n10,\n'
JSON_LINES = '{"text": "hi", "number": 1}\n\n{"text": null, "number": 2}\nno\n{"number": 3}\n[1]\n'


def read(source: Source, size: int = 2) -> tuple[list[Any], list[list[str]], list[str]]:
    """The identities, the texts of each column, and the places and causes of rows that cannot be read."""
    noted: list[str] = []
    told = replace(source, on_fault=lambda place, cause: noted.append(f"{Path(place).name}: {cause}"))
    batches = list(told.batches(size))
    assert all(len(batch.identities) <= size for batch in batches)
    identities = [identity for batch in batches for identity in batch.identities]
    columns = [
        [text for batch in batches for text in batch.columns[number]] for number in range(source.texts)
    ]
    bad = [batch.identities[place] for batch in batches for place in batch.faults]
    assert len(bad) == len(noted)
    return identities, columns, noted


def read_with_blanks(source: Source) -> tuple[list[Any], list[list[str]], list[str]]:
    noted: list[str] = []
    (batch,) = replace(source, on_fault=lambda place, _: noted.append(place)).batches(100)
    assert batch.faults == [0, 2]
    return list(batch.identities), batch.columns, noted


def written(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(path)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "A.CSV"])
def test_csv(name: str, tmp_path: Path) -> None:
    source = Source(written(tmp_path, name, CSV), ["text"], "number")
    identities, (texts,), noted = read(source)
    assert identities[:2] == ["7", "8"]
    assert identities[3] == "10"
    assert texts == ["A dog, barking", "It rains in Paris", "", ""]
    assert noted == [f"{name}:5: 3 columns, the header has 2"]


@pytest.mark.parametrize(("name", "between"), [("a.csv", ";"), ("a.tsv", "\t")])
def test_other_separators(name: str, between: str, tmp_path: Path) -> None:
    lines = ["id,x".replace(",", between), f'1{between}a "quoted, word'.replace('"', "'"), f"2{between}b"]
    path = written(tmp_path, name, "\ufeff" + "\r\n".join(lines))
    assert read(Source(path, ["x"]))[1] == [["a 'quoted, word", "b"]]


def test_quotes_within_tab_separated_text_are_text(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tsv", 'id\tx\n1\t"So what\n2\tsaid "no"\n')
    assert read(Source(path, ["x"]))[1] == [['"So what', 'said "no"']]


@pytest.mark.parametrize(("name", "content"), [("a.csv", "a,b\nc,d\n"), ("a.tsv", "a\tb\nc\td\n")])
def test_columns_by_number_have_no_header(name: str, content: str, tmp_path: Path) -> None:
    path = written(tmp_path, name, content)
    assert read(Source(path, ["2", "1"], texts=2))[1] == [["b", "d"], ["a", "c"]]
    assert read(Source(path, ["2"], "1"))[0] == ["a", "c"]
    for number in "03":
        with pytest.raises(InputError, match=f"{name}:1: no column '{number}'; the header has '1', '2'"):
            read(Source(path, [number]))
    with pytest.raises(InputError, match="has no header, so 'id' has to be a number, too"):
        read(Source(path, ["2"], "id"))


def test_a_quote_that_is_never_closed_costs_its_row_alone(tmp_path: Path) -> None:
    rows = [f"{number},text {number}" for number in range(50)]
    rows[3] = '3,"a quote that is not closed'
    texts, noted = read(Source(written(tmp_path, "a.csv", "\n".join(["id,x", *rows])), ["x"]), 7)[1:]
    assert [len(column) for column in texts] == [50]
    assert [text for text in texts[0] if not text.startswith("text ")] == [""]
    assert [note.split(":")[1] for note in noted] == ["5"]


def test_a_row_of_two_lines_with_too_many_cells_is_one_row(tmp_path: Path) -> None:
    content = 'n,x\na,A dog.\n"b","It,\nrains",extra\nc,A cat.\n'
    identities, (texts,), noted = read(Source(written(tmp_path, "a.csv", content), ["x"], "n"))
    assert (identities, texts) == (["a", None, "c"], ["A dog.", "", "A cat."])
    assert noted == ["a.csv:3: 3 columns, the header has 2"]


def test_bytes_that_are_not_utf8_cost_their_row_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", b"x\nfirst\n\xff\nlast\n")
    assert read(Source(path, ["x"]))[1:] == ([["first", "", "last"]], ["a.csv:3: not UTF-8: byte 0xff"])


def test_json_lines(tmp_path: Path) -> None:
    identities, (texts,), noted = read(Source(written(tmp_path, "a.jsonl", JSON_LINES), ["text"], "number"))
    assert (identities[0], texts) == (1, ["hi", "", "", "", ""])
    assert [note.partition(":")[2] for note in noted] == [
        "3: text: is missing",
        "4: not JSON: Expecting value at character 1",
        "5: text: is missing",
        "6: not a JSON object",
    ]
    nested = written(tmp_path, "b.jsonl", '{"data": {"text": "one"}, "n": 1}\n{"data": {"text": "two"}}\n')
    assert read(Source(nested, ["data.text"]))[1] == [["one", "two"]]
    assert read(Source(nested, ["data.text"], "n"))[2] == ["b.jsonl:2: n: is missing"]


def test_parquet(tmp_path: Path) -> None:
    table = pl.DataFrame({"number": [5, 6, 7], "text": ["a", None, "c"], "count": [1, 2, 3]})
    table.write_parquet(tmp_path / "a.parquet")
    path = str(tmp_path / "a.parquet")
    assert read(Source(path, ["text"], "number"))[:2] == ([5, None, 7], [["a", "", "c"]])
    with pytest.raises(InputError, match=r"a\.parquet: no row can be read; .*: count: 1 is not text"):
        read(Source(path, ["count"]))
    (tmp_path / "bad.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-30])
    with pytest.raises(InputError, match=r"bad\.parquet: cannot be read"):
        read(Source(str(tmp_path / "bad.parquet"), ["text"]))


def test_aligned_files(tmp_path: Path) -> None:
    first, second = written(tmp_path, "a.txt", b"one\n\xff\nthree\n"), written(tmp_path, "b.txt", "1\n2\n3\n")
    columns = read(Source(first, others=[second], texts=2))[1]
    assert columns == [["one", "", "three"], ["1", "", "3"]]
    short = written(tmp_path, "c.txt", "1\n2\n")
    with pytest.raises(
        InputError, match=r"sides of unequal length: .*a\.txt has 3 lines, .*c\.txt has 2 lines"
    ):
        read(Source(first, others=[short], texts=2))


def test_lines_with_tabs_need_no_header(tmp_path: Path) -> None:
    for name in ("a.tsv", "a.txt"):
        path = written(tmp_path, name, "a\tb\nc\nd\te\tf\ng\th\n")
        columns, noted = read(Source(path, texts=2))[1:]
        assert columns == [["a", "", "", "g"], ["b", "", "", "h"]]
        assert [note.split(": ")[1] for note in noted] == [
            "1 columns, where 2 are expected",
            "3 columns, where 2 are expected",
        ]


def test_a_csv_file_of_two_columns_has_pairs(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "first,second\na,b\nc,d\n")
    assert read(Source(path, texts=2))[1] == [["a", "c"], ["b", "d"]]


def test_a_source_can_be_read_again(tmp_path: Path) -> None:
    source = Source(written(tmp_path, "a.txt", b"good\n\xff\n"))
    assert read(source) == read(source)


def test_a_matrix_has_no_place_for_identities(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = written(tmp_path, "a.csv", CSV), tmp_path / "out.npy"
    assert embed(folder, path, output, "--column", "text", "--id", "number") == 1
    assert "out.npy: a matrix has no identities of rows" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("a.csv", {}, "is a table; say which of its columns has the text: 'number', 'text'"),
        ("a.csv", {"columns": ["words"]}, r"a\.csv: no column 'words'; the header has 'number', 'text'"),
        ("a.csv", {"identity": "number"}, "name the column with the text, too, not only 'number'"),
        ("a.txt", {"columns": ["text"]}, r"is read line by line; the name of a table ends in \.csv, \.tsv"),
    ],
)
def test_what_does_not_fit_is_named(name: str, options: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=why):
        read(Source(written(tmp_path, name, CSV), **options))


def test_without_anyone_to_tell_a_bad_row_is_an_error(tmp_path: Path) -> None:
    for name, content, columns in (("a.csv", CSV, ["text"]), ("a.txt", b"good\n\xff\n", [])):
        with pytest.raises(InputError, match=rf"{name}:\d: (3 columns, the header has 2|not UTF-8)"):
            list(Source(written(tmp_path, name, content), columns).batches(2))


def test_a_file_of_faults_is_not_what_it_is_taken_for(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", b"good\n" * 20 + b"\xff\n" * 200 + b"good\n" * 100)
    with pytest.raises(InputError, match=r"a\.txt: 200 of 320 rows cannot be read; .*a\.txt:21: not UTF-8"):
        read(Source(path), 100)
    # Wherever they are, fewer than half of the rows cost no others.
    for content in (b"\xff\n" * 200 + b"good\n" * 1000, b"good\n" * 1000 + b"\xff\n" * 200):
        assert len(read(Source(written(tmp_path, "a.txt", content)), 100)[2]) == 200


def test_blank_lines_between_pairs_have_places_and_no_texts(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tsv", "\na\tb\n \nc\td\n\n\n")
    identities, columns, noted = read_with_blanks(Source(path, texts=2))
    assert (identities, columns, noted) == ([1, 2, 3, 4], [["", "a", "", "c"], ["", "b", "", "d"]], [])


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_vectors_keep_their_identities(
    name: str, dtype: str, folder: Path, model: AverageEncoder, tmp_path: Path
) -> None:
    path, output = written(tmp_path, "a.csv", CSV), tmp_path / name
    options = ["--column", "text", "--id", "number", "--dtype", dtype, "--batch", "1"]
    assert embed(folder, path, output, *options) == 0
    table = pl.read_parquet(output).to_dicts() if name.endswith("parquet") else None
    rows = table or [json.loads(line) for line in output.read_text().splitlines()]
    # The row that cannot be read is left out.
    assert [row["id"] for row in rows] == ["7", "8", "10"]
    expected = model.embed_raw_text(["A dog, barking", "It rains in Paris", ""], dtype=dtype)
    np.testing.assert_array_equal(np.array([row["vector"] for row in rows], dtype), expected)
    assert not (tmp_path / f"{name}.json").exists()


@pytest.mark.parametrize("batch", [1, 10])
def test_an_identity_of_another_type_costs_its_row_alone_in_parquet(
    folder: Path, tmp_path: Path, batch: int, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"n": value, "t": "a dog"} for value in (1, "b", True, 2.5, 10**30, 4)]
    path = written(tmp_path, "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    options = ["--column", "t", "--id", "n", "--batch", str(batch)]
    output = tmp_path / "out.parquet"
    assert embed(folder, path, output, *options) == 0
    assert [line.split(": n: ")[1] for line in capsys.readouterr().err.splitlines()] == [
        *(f"{value} and the first identity, 1, are not of one type" for value in ("'b'", "True", "2.5")),
        f"{10**30} is too large a number for Parquet",
    ]
    assert pl.read_parquet(output)["id"].to_list() == [1, 4]
    assert pl.read_parquet(output)["vector"].null_count() == 0
    assert embed(folder, path, output, *options, "--strict") == 1
    assert "a.jsonl:2: n: 'b' and the first" in capsys.readouterr().err
    # Lines of JSON have places for all of them.
    assert embed(folder, path, tmp_path / "out.jsonl", *options) == 0
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [row["n"] for row in rows]


def test_no_rows_are_a_table_without_rows(folder: Path, tmp_path: Path) -> None:
    assert embed(folder, written(tmp_path, "a.txt", ""), tmp_path / "o.parquet") == 0
    assert pl.read_parquet(tmp_path / "o.parquet").shape == (0, 2)
    # Its identities have the type that those of other parts have.
    options = ["--column", "t", "--id", "n"]
    pl.DataFrame({"n": [], "t": []}, {"n": pl.UInt16, "t": pl.String}).write_parquet(tmp_path / "a.parquet")
    written(tmp_path, "a.csv", "n,t\n")
    for name, kind in (("a.csv", pl.String), ("a.parquet", pl.UInt16)):
        assert embed(folder, tmp_path / name, tmp_path / "o.parquet", *options) == 0
        assert pl.read_parquet(tmp_path / "o.parquet").schema["id"] == kind


def test_pairs_of_tables_and_of_two_files(
    folder: Path, model: AverageEncoder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = [("the dog", "a dog"), ("the cat", "it\train\ns")]
    table = written(tmp_path, "a.csv", 'x,y\nthe dog,a dog\nthe cat,"it\train\ns"\n')
    first = written(tmp_path, "a.txt", "the dog\nthe cat\n")
    second = written(tmp_path, "b.txt", "a dog\nit rain s\n")
    expected = [
        f"{cosine:.6f}\t{a}\t{' '.join(b.split())}"
        for cosine, (a, b) in zip(model.score_raw_text(pairs), pairs, strict=True)
    ]
    for options in ([table, "--columns", "x", "y"], [first, "--second", second]):
        assert score(folder, options[0], "-", *options[1:]) == 0
        assert capsys.readouterr().out.splitlines() == expected


def test_another_librarys_model_embeds_files_and_searches_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from sentence_transformers import SentenceTransformer
    from tiny_transformer import write_bert

    place = str(write_bert(tmp_path / "bert", ["the dog", "the cat", "it rains"]))
    theirs = SentenceTransformer(place, device="cpu")
    theirs.save_pretrained(str(tmp_path / "model"))
    path = written(tmp_path, "a.txt", "the dog\nit rains\n")
    matrix = tmp_path / "v.npy"
    assert embed(tmp_path / "model", path, matrix, "--normalize") == 0
    expected = theirs.encode(["the dog", "it rains"], normalize_embeddings=True)
    np.testing.assert_allclose(np.load(matrix), expected, atol=1e-5)
    assert search(tmp_path / "model", matrix, path, "-", "--k", "1") == 0
    found = [line.split("\t")[1:] for line in capsys.readouterr().out.splitlines()]
    assert found == [["1", "1", "1"], ["2", "1", "2"]]
    assert search("en", matrix, path, "-", "--k", "1") == 1
    assert "v.npy: made by the model" in capsys.readouterr().err
