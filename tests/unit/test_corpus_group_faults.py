"""Test that broken corpora of groups lose no more than their broken rows, and that errors name the cause."""

import json
from io import BytesIO
from pathlib import Path

import pytest
from group_files import extract, faults, groups_of, packed, written

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base import quoted_tables
from paraphrastic_pipeline.base.lines import UnreadableRows
from paraphrastic_pipeline.corpus.database import Resources
from paraphrastic_pipeline.corpus.sentence_groups import Drawing

WORDS = "key:id text:text"
NEVER_CLOSED = "102: not CSV: a quote is not closed within 1000 lines"


def table(*broken: str, rows: int = 3000) -> bytes:
    """CSV with two rows for each key, and broken rows in their midst."""
    lines = [f"k{n // 2},sentence {n}\n" for n in range(rows)]
    return "".join(["id,text\n", *lines[:100], *broken, *lines[100:]]).encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("broken", "causes"),
    [
        (['b,"a cell\n', 'with a bad \udce9 byte"\n'], ["103: not UTF-8: byte 0xe9"]),
        (['b,"a bad \udce9 byte\n', '\0 and NUL"\n'], ["102: not UTF-8: byte 0xe9"]),
        (['b,"never closed\n'], [NEVER_CLOSED]),
        (['b,"never \udce9 closed\n'], [NEVER_CLOSED]),
        (
            ['b,"opened\n', *("c,c\n" for _ in range(9)), 'c,"quoted"\n'],
            ["102: not CSV: ',' expected after '\"'"],
        ),
        (
            ['b,"opened\n', *("c,c\n" for _ in range(9)), 'c,closed"\n'],
            ["102: not CSV: a cell in quotes holds other rows"],
        ),
        (
            ['b,"opened\n', "c,c\n", 'c,"",d\n', 'c,"",\n'],
            [NEVER_CLOSED, "104: 3 columns, the header has 2", "105: 3 columns, the header has 2"],
        ),
        (
            # This is one row, as its second line cannot be a row.
            ['b,"opened\n', 'c",c,d\n'],
            ["102: 4 columns, the header has 2"],
        ),
        (
            ['b,"no sentence is as long as this\n', f"{'x' * (1 << 20)}x\n"],
            [NEVER_CLOSED, "103: longer than 1048576 bytes"],
        ),
    ],
)
def test_a_broken_row_of_csv_costs_no_other_row(tmp_path: Path, broken: list[str], causes: list[str]) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(table(*broken))
    rows = extract(tmp_path, [(path, WORDS)], max_unreadable=3)
    assert len(rows) >= 1500
    assert {f"sentence {n}" for n in range(3000)} <= {
        row[side] for row in rows for side in ("source", "target")
    }
    assert faults(tmp_path) == causes


@pytest.mark.parametrize(
    ("rows", "others", "swallowed"),
    # Three rows or more, and more than half of the lines, are too many for one cell.
    [(2, 0, False), (3, 0, True), (3, 2, True), (3, 3, False), (4, 3, True), (4, 9, False)],
)
def test_lines_of_a_cell_are_rows_if_most_of_them_look_like_rows(
    rows: int, others: int, swallowed: bool
) -> None:
    read = list(enumerate(['a,"opened', *["c,d"] * rows, *["text"] * others], start=1))
    assert bool(quoted_tables._swallowed(read, ["id", "text"], ",")) == swallowed


@pytest.mark.parametrize(("lines", "closed"), [(4, True), (5, False)])
def test_a_quote_is_closed_within_so_many_lines(
    monkeypatch: pytest.MonkeyPatch, lines: int, closed: bool
) -> None:
    monkeypatch.setattr(quoted_tables, "_MAX_LINES", 4)
    text = ['a,"1', *["2"] * (lines - 2), '3"', "b,c"]
    rows = list(quoted_tables.csv_rows(iter(list(enumerate(text, start=1))), ["id", "text"]))
    assert (rows[0][2] == "") == closed
    assert rows[-1] == (lines + 1, ["b", "c"], "")


def test_a_quote_that_is_open_at_the_end_costs_one_row(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", 'id,text\na,"one\nb,two\nb,three\n')
    assert groups_of(extract(tmp_path, [(path, WORDS)], max_unreadable=1)) == {frozenset({"two", "three"})}
    assert faults(tmp_path) == ["2: not CSV: unexpected end of data"]


def test_a_cell_may_have_many_lines(tmp_path: Path) -> None:
    verses = "".join(f"verse {n}, which is long\n" if n % 3 else "\n" for n in range(300))
    path = written(tmp_path / "x.csv", f'id,more,text\na,"{verses}",one\na,,two\n')
    assert groups_of(extract(tmp_path, [(path, WORDS)])) == {frozenset({"one", "two"})}


def test_tsv_keeps_a_tab_in_quotes_but_needs_no_pairs_of_them(tmp_path: Path) -> None:
    text = 'id\ttext\na\t"with a\ttab"\na\t"with ""it"""\nb\t"one\nb\ttwo"\nc\tx\ty\nc\t"x\ty\n'
    rows = extract(tmp_path, [(written(tmp_path / "x.tsv", text), WORDS)], max_unreadable=2)
    assert groups_of(rows) == {frozenset({"with a tab", 'with "it"'}), frozenset({'"one', 'two"'})}
    assert faults(tmp_path) == ["6: 3 columns, the header has 2", "7: 3 columns, the header has 2"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", 'id,text\na,one\n,two\na,three\n" ",four\n'),
        ("x.tsv", "id\ttext\na\tone\n\ttwo\na\tthree\n \tfour\n"),
        (
            "x.jsonl",
            "".join(
                f'{{"id": {key}, "text": "{text}"}}\n'
                for key, text in (
                    ("0", "none"),
                    ('"a"', "one"),
                    ("null", "two"),
                    ('"a"', "three"),
                    ('" "', "four"),
                )
            ),
        ),
    ],
)
def test_rows_without_a_key_are_no_group(tmp_path: Path, name: str, text: str) -> None:
    rows = extract(tmp_path, [(written(tmp_path / name, text), WORDS)], max_unreadable=2)
    assert groups_of(rows) == {frozenset({"one", "three"})}
    assert faults(tmp_path) == ["3: has an empty id", "5: has an empty id"]


def test_lines_without_a_key_are_no_group(tmp_path: Path) -> None:
    lines, keys = written(tmp_path / "t.en", "1\n2\n3\n4\n"), written(tmp_path / "t.ids", "a\n\na\n \n")
    rows = extract(tmp_path, [(path, "lines:t.en keys:t.ids") for path in (lines, keys)], max_unreadable=2)
    assert groups_of(rows) == {frozenset("13")}
    assert faults(tmp_path) == ["2: has an empty key", "4: has an empty key"]


def test_tables_of_one_name_in_two_archives_are_both_read(tmp_path: Path) -> None:
    texts = {"one.zip": "id,text\na,1\nb,2\n", "two.zip": "id,text\na,3\nb,4\n"}
    files = [packed(tmp_path / name, {"c.csv": text}, "zip") for name, text in texts.items()]
    rows = extract(tmp_path, [(path, f"table:c.csv {WORDS}") for path in files])
    assert groups_of(rows) == {frozenset("13"), frozenset("24")}


def test_lines_of_one_name_in_two_archives_are_sets_of_their_own(tmp_path: Path) -> None:
    members = {"one.zip": {"t.x.a": "1\n2\n", "t.x.b": "3\n4\n"}, "two.zip": {"t.x.a": "5\n", "t.x.c": "6\n"}}
    files = [packed(tmp_path / name, texts, "zip") for name, texts in members.items()]
    rows = extract(tmp_path, [(path, "lines:t.<s>.*") for path in files])
    assert groups_of(rows) == {frozenset("13"), frozenset("24"), frozenset("56")}


def test_lines_of_other_names_in_two_archives_are_one_set(tmp_path: Path) -> None:
    files = [packed(tmp_path / f"{name}.zip", {f"t.x.{name}": f"{name}\n"}, "zip") for name in "ab"]
    assert groups_of(extract(tmp_path, [(path, "lines:t.<s>.*") for path in files])) == {frozenset("ab")}


@pytest.mark.parametrize(
    ("names", "words", "cause"),
    [
        (("t.1.en", "t.1x.ids"), "lines:t.<s>.en keys:t.<s>.ids", r"t\.1x\.ids: the keys belong to no file"),
        (("t.1.en", "t.1.ids"), "lines:t.<s>.en keys:t.<k>.ids", r"t\.1\.ids: the keys belong to no file"),
        (
            ("t.en", "1.ids", "2.ids"),
            "lines:t.en keys:*.ids",
            r"1\.ids: the same lines have other keys in \S*2",
        ),
    ],
)
def test_keys_belong_to_one_set_of_lines(
    tmp_path: Path, names: tuple[str, ...], words: str, cause: str
) -> None:
    files = [written(tmp_path / name, "a\nb\n") for name in names]
    with pytest.raises(InputError, match=cause):
        extract(tmp_path, [(path, words) for path in files])


@pytest.mark.parametrize("name", ["x.csv.json", "x.tsv.v2.JSON"])
def test_the_last_ending_says_what_a_table_is(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, json.dumps([{"id": 1, "text": text} for text in "ab"]))
    assert groups_of(extract(tmp_path, [(path, WORDS)])) == {frozenset("ab")}


ROWS = "id,text,n\na,one,1\nb,two,1\n"
COLUMNS = [f"a column {n}" for n in range(50)]


@pytest.mark.parametrize(
    ("name", "text", "words", "cause"),
    [
        ("x.csv", ROWS, WORDS, "empty: none of its groups has two different sentences$"),
        ("x.csv", ROWS, "text:text", "two different sentences; key:… says which rows belong together$"),
        ("x.csv", ROWS, f"{WORDS} where:n=7 where:id=a", "empty: no row has n=7 and id=a$"),
        ("x.csv", f"{ROWS}c\n", f"{WORDS} where:n=7", "empty: no row that can be read has n=7$"),
        ("x.csv", "id,text,n\n", WORDS, "empty: no lines$"),
        ("x.csv", "id,text,n\na\n", WORDS, "empty: none of its 1 rows can be read$"),
        ("x.csv", "id,te\udcffxt\na,text\na,b\n", WORDS, "csv:1: the header cannot be read: not UTF-8"),
        ("x.tsv", "id\tte\udcffxt\na\ttext\n", WORDS, "tsv:1: the header cannot be read: not UTF-8"),
        ("x.csv", 'id,"text\na,b\n', WORDS, "csv:1: the header cannot be read: not CSV"),
        ("x.csv", "id,text,text\na,b,c\n", WORDS, "2 columns 'text'; the header has 'id', 'text', 'text'$"),
        ("x.csv", ROWS, f"{WORDS} rows:foo", "rows:foo is for .json files, not for .csv$"),
        ("x.jsonl", "{}", f"{WORDS} rows:foo", "rows:foo is for .json files, not for .jsonl$"),
        ("x.csv", ",".join(COLUMNS), WORDS, "no column 'text'; the header has .{200}…$"),
        ("x.json", json.dumps(dict.fromkeys(COLUMNS)), f"{WORDS} rows:foo", "no foo; it holds .{200}…$"),
    ],
)
def test_errors_name_the_cause(tmp_path: Path, name: str, text: str, words: str, cause: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=cause):
        extract(tmp_path, [(path, words)], max_unreadable=1)


def test_a_column_that_is_named_twice_is_no_fault_if_no_one_reads_it(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "id,text,,\na,one,,\na,two,,\n")
    assert groups_of(extract(tmp_path, [(path, WORDS)])) == {frozenset({"one", "two"})}


def test_keys_are_told_apart_wherever_their_parts_end(tmp_path: Path) -> None:
    rows = [("x\ny", "z"), ("x", "y\nz"), ("x", "y\nz"), ("x\ny", "z"), ("x", "\ud800")]
    records = [{"a": a, "b": b, "text": str(n)} for n, (a, b) in enumerate(rows)]
    path = written(tmp_path / "x.json", json.dumps(records))
    assert groups_of(extract(tmp_path, [(path, "key:a key:b text:text")])) == {
        frozenset("03"),
        frozenset("12"),
    }


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_table_without_a_header_has_no_columns(separator: str) -> None:
    rows = quoted_tables.table_rows(BytesIO(b""), "x.csv", separator, ["text"], UnreadableRows(0))
    with pytest.raises(InputError, match=r"^x\.csv: no column 'text'; the header has nothing$"):
        list(rows)


def test_a_rule_says_how_pairs_are_drawn() -> None:
    resources: Resources = {"threads": 1, "memory_mb": 100, "temporary": "/tmp"}
    assert Drawing.of_rule({}, resources) is None
    assert Drawing.of_rule({"pairs_per_group": 3, "seed": 7}, resources) == Drawing(3, 7, resources)
