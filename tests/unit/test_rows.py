"""Test the reader of rows: each format gives the same rows, and bad rows are errors or left out."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraphrastic import Source
from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import BadRow

ROWS = [
    ("1", "A dog runs.", "Un chien court."),
    ("2", "Two\nlines, with \"quotes\" and 'commas'; semicolons", "x"),
    ("3", "", "空"),
    ("x4", " spaces ", "tab"),
]
HEADER = ("id", "text", "other")


def write_table(
    path: Path, rows: Sequence[Sequence[Any]], header: Sequence[str] = HEADER, mark: str = ","
) -> Path:
    if path.suffix == ".parquet":
        columns = [list(column) for column in zip(*rows, strict=True)]
        pq.write_table(pa.table(columns, names=list(header)), path, row_group_size=2)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in rows))
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            mark = "\t" if path.suffix == ".tsv" else mark
            csv.writer(file, delimiter=mark, lineterminator="\n").writerows([header, *rows])
    return path


def read(source: Source, size: int = 2) -> list[tuple[Any, ...]]:
    return [row for batch in source.batches(size) for row in zip(batch.ids, *batch.columns, strict=True)]


FORMATS = ["csv", "tsv", "jsonl", "parquet"]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_same_rows(tmp_path: Path, form: str) -> None:
    path = write_table(tmp_path / f"rows.{form}", ROWS)
    source = Source(str(path), ["text", "other"], "id", texts=2)
    assert read(source) == [(name, text, other) for name, text, other in ROWS]
    assert read(Source(str(path), ["other"])) == [
        (row, other) for row, (*_, other) in enumerate(ROWS, start=1)
    ]
    if form != "tsv":
        # As many columns as texts need no names.
        assert read(Source(str(path), texts=3))[0][1:] == ROWS[0]
    firsts = [first for batch in Source(str(path), ["text"]).batches() for first in batch.first]
    assert firsts == {"csv": [2, 3, 5, 6], "tsv": [2, 3, 5, 6]}.get(form, [1, 2, 3, 4])


def test_semicolons_of_spreadsheets(tmp_path: Path) -> None:
    path = write_table(tmp_path / "rows.csv", ROWS, mark=";")
    assert read(Source(str(path), ["text"], "id")) == [(name, text) for name, text, _ in ROWS]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("column", ["none", "id2"])
def test_a_missing_column_names_those_that_are_there(tmp_path: Path, form: str, column: str) -> None:
    path = write_table(tmp_path / f"rows.{form}", ROWS)
    for source in (Source(str(path), [column]), Source(str(path), ["text"], column)):
        with pytest.raises(InputError, match=f"^{path}.*'{column}'.*'id', 'text', 'other'"):
            read(source)
    with pytest.raises(InputError, match=f"^{path}: .*'id', 'text', 'other'"):
        read(Source(str(path), texts=1))


def test_a_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = write_table(tmp_path / "rows.csv", [("a", "b")], ("text", "text"))
    with pytest.raises(InputError, match=f"^{path}: .*'text'"):
        read(Source(str(path), ["text"]))


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_numbers_are_names_if_the_header_has_them_and_places_if_not(tmp_path: Path, form: str) -> None:
    path = write_table(tmp_path / f"rows.{form}", [("10", "A dog.")], ("0", "1"))
    assert read(Source(str(path), ["1"])) == [(1, "A dog.")]
    assert read(Source(str(path), ["1"], "0")) == [("10", "A dog.")]
    path = write_table(tmp_path / f"without.{form}", [("3", "It rains.")], ("10", "A dog."))
    assert read(Source(str(path), ["2"])) == [(1, "A dog."), (2, "It rains.")]
    assert read(Source(str(path), ["2"], "1")) == [("10", "A dog."), ("3", "It rains.")]
    with pytest.raises(InputError, match=r"'3'.*'10', 'A dog.'"):
        read(Source(str(path), ["3"]))


def test_quotes_of_tsv_are_text_unless_all_are_those_of_csv(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    lines = ["text\tother", '"Yes," he said.\tx', '"open\ty', '5" screen\tz', '"a ""b"" c"\t"d"', '"e\tf"\tg']
    path.write_text("\n".join(lines) + "\n")
    rows = read(Source(str(path), ["text", "other"], texts=2, on_bad=lambda row: None))
    assert rows == [
        (1, '"Yes," he said.', "x"), (2, '"open', "y"), (3, '5" screen', "z"), (4, 'a "b" c', "d"),
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_values_that_are_no_text(tmp_path: Path, form: str) -> None:
    rows = [(1, "a", True), (2, None, False)]
    path = write_table(tmp_path / f"rows.{form}", rows, ("id", "text", "label"))
    source = Source(str(path), ["text", "label"], "id", texts=2)
    assert read(source) == [(1, "a", "true"), (2, "", "false")]
    path = write_table(tmp_path / f"lists.{form}", [(["a"],)], ("text",))
    with pytest.raises(InputError, match=f"^{path}.*text"):
        read(Source(str(path), ["text"]))


def test_nested_entries_of_json(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": {"b": "deep"}, "a.c": "flat"}\n\n{"a": {}, "a.c": 5}\n')
    assert read(Source(str(path), ["a.b", "a.c"], texts=2)) == [(1, "deep", "flat"), (2, "", "5")]


KINDS = [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_columns_of_parquet(tmp_path: Path, kind: Any) -> None:
    path = tmp_path / "rows.parquet"
    text = pa.array(["a", None, "b"]).cast(pa.string()).cast(kind)
    pq.write_table(pa.table({"text": text, "day": pa.array([0, 1, 2], pa.date32())}), path)
    assert read(Source(str(path), ["text"], "day")) == [
        ("1970-01-01", "a"), ("1970-01-02", ""), ("1970-01-03", "b"),
    ]  # fmt: skip


LINES: dict[str, tuple[str, int, str]] = {
    "rows.csv": ('id,text\n1,a\n2,b,c\n3,"d\n', 3, "3 columns"),
    "quote.csv": ('id,text\n1,a\n2,"b" c\n3,d\n', 3, "CSV"),
    "open.csv": ('id,text\n1,a\n2,b\n3,"d\n', 4, "CSV"),
    "rows.tsv": ("id\ttext\n1\ta\n2\n3\td\n", 3, "1 columns"),
    "rows.jsonl": ('{"id": 1, "text": "a"}\n[]\n{"id": 3, "text": "d"}\n', 2, "JSON"),
    "broken.jsonl": ('{"id": 1, "text": "a"}\n{"id"\n', 2, "JSON"),
    "list.jsonl": ('{"id": 1, "text": "a"}\n{"id": 2, "text": ["b"]}\n', 2, "text"),
    "half.jsonl": ('{"id": 1, "text": "a"}\n{"id": 2, "text": "\\ud83d"}\n', 2, "surrogate"),
    "nul.jsonl": ('{"id": 1, "text": "a"}\n{"id": 2, "text": "\\u0000"}\n', 2, "NUL"),
}


@pytest.mark.parametrize("name", LINES)
def test_the_first_bad_row_is_an_error_and_bad_rows_can_be_left_out(tmp_path: Path, name: str) -> None:
    content, line, cause = LINES[name]
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read(Source(str(path), ["text"], "id"))
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert cause in str(caught.value)
    told: list[BadRow] = []
    rows = read(Source(str(path), ["text"], "id", on_bad=told.append))
    assert told[0][:2] == (str(path), line)
    assert rows[0][1] == "a"
    assert len(rows) + len(told) == content.count("\n") - (not name.endswith("jsonl"))


def test_a_quote_that_is_never_closed_costs_one_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('text,other\n"a,x\nb,y\n"c",z\n')
    told: list[BadRow] = []
    rows = read(Source(str(path), ["text"], on_bad=told.append))
    assert [row.first for row in told] == [2]
    assert rows == [(2, "b"), (3, "c")]


@pytest.mark.parametrize("texts", [2, 3])
def test_lines_with_tabs(tmp_path: Path, texts: int) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("a\tb\tc\n" * 2 + "\n\n")
    source = Source(str(path), texts=texts)
    if texts == 3:
        assert read(source) == [(1, "a", "b", "c"), (2, "a", "b", "c")]
        return
    with pytest.raises(InputError, match=f"^{path}:1: "):
        read(source)
    # A file that is called a table, but has no header, is lines for pairs.
    (tmp_path / "pairs.tsv").write_text('"a\tb\n')
    assert read(Source(str(tmp_path / "pairs.tsv"), texts=2)) == [(1, '"a', "b")]


def test_a_blank_line_among_pairs_is_bad(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("a\tb\n\nc\td\n")
    with pytest.raises(InputError, match=f"^{path}:2: "):
        read(Source(str(path), texts=2))
    assert read(Source(str(path), texts=2, on_bad=lambda row: None)) == [(1, "a", "b"), (3, "c", "d")]


def test_two_files_side_by_side(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("one\ntwo\tx\n")
    second.write_bytes(b"eins\r\nzwei")
    source = Source(str(first), second=str(second), texts=2)
    assert read(source) == [(1, "one", "eins"), (2, "two x", "zwei")]
    second.write_bytes(b"eins\n\xff\n")
    with pytest.raises(InputError, match=f"^{second}:2: "):
        read(source)
    assert read(Source(str(first), second=str(second), texts=2, on_bad=lambda row: None)) == [
        (1, "one", "eins")
    ]
    second.write_text("eins\n")
    with pytest.raises(InputError, match=f"^{first} .*2.*{second}"):
        read(source)


@pytest.mark.parametrize(
    "make",
    [
        lambda text, table: Source(text, ["text"]),
        lambda text, table: Source(text, id="id"),
        lambda text, table: Source(table, id="id"),
        lambda text, table: Source(text, second=table, texts=2),
        lambda text, table: Source(table, second=text, texts=2),
        lambda text, table: Source(text, ["text"], second=text, texts=2),
        lambda text, table: Source("-.parquet", ["text"]),
    ],
)
def test_options_that_a_file_would_not_use_are_errors(
    tmp_path: Path, make: Callable[[str, str], Source]
) -> None:
    text = tmp_path / "a.txt"
    text.write_text("a\n")
    table = write_table(tmp_path / "rows.parquet", ROWS)
    with pytest.raises(InputError):
        read(make(str(text), str(table)))


cell = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(cell, cell), min_size=1, max_size=6), size=st.integers(1, 4))
def test_what_programs_write_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, size: int
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    for form in ("csv", "jsonl", "parquet"):
        path = write_table(folder / f"rows.{form}", rows, ("text", "other"))
        found = read(Source(str(path), ["text", "other"], texts=2), size)
        assert [texts for _, *texts in found] == [list(row) for row in rows], form
    # Quoted lines of tab-separated text are told from others only if no cell has a tab.
    plain = [row for row in rows if "\t" not in "".join(row)]
    if plain:
        path = write_table(folder / "rows.tsv", plain, ("text", "other"))
        assert [texts for _, *texts in read(Source(str(path), ["text", "other"], texts=2), size)] == [
            list(row) for row in plain
        ]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("rows.csv", f"id,text\n1,{'x' * 200_000}\n2,b\n", ["x" * 200_000, "b"]),
        ("rows.csv", 'id,"te\nxt",text\n1,2,3\n', ["3"]),
        ("rows.csv", '"i;d;e, ""x""",text\n1,a\n', ["a"]),
        ("rows.jsonl", '{"id": 1}\n{"id": 2, "text": "b"}\n', ["", "b"]),
        ("rows.tsv", 'id\ttext\n1\t"open\n2\tb\n', ['"open', "b"]),
    ],
)
def test_unusual_tables_of_strangers(tmp_path: Path, name: str, content: str, expected: list[str]) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert [text for _, text in read(Source(str(path), ["text"]))] == expected


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [("rows.csv", b"id,text\r1,A dog\r", ":1: "), ("rows.csv", "id,text\n".encode("utf-16"), ": ")],
)
def test_a_header_that_cannot_be_read_is_one_line(
    tmp_path: Path, name: str, content: bytes, line: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"^{path}{line}"):
        read(Source(str(path), ["text"]))


def test_a_row_of_parquet_that_is_no_text_has_its_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"text": ["a", "b\0", "c"]}), path)
    with pytest.raises(InputError, match=f"^{path}:2: "):
        read(Source(str(path), ["text"]))
    told: list[BadRow] = []
    assert read(Source(str(path), ["text"], on_bad=told.append)) == [(1, "a"), (3, "c")]
    assert [row.first for row in told] == [2]
