"""Test the formats of users' files (TSV, JSON lines, Parquet, TMX, compressed) and unreadable rows."""

import bz2
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from extraction import extract, extract_files, fault, pairs, parquet, sides, tmx, variant

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.row_values import RowError, with_nested
from paraphrastic_pipeline.corpus.pair_tables import finite_score

# TSV


@pytest.mark.parametrize("score", ["3.5e38", "-3.5e38", 3.5e38])
def test_a_score_is_a_number_in_single_precision(score):
    assert finite_score("3.4e38") == 3.4e38
    with pytest.raises(RowError, match="is too large"):
        finite_score(score)


def test_a_name_with_a_dot_comes_before_the_entry_of_an_object():
    record = {"a.b": "own", "a": {"b": "nested", "c": "other"}}
    assert with_nested(record) | {"a": None} == {"a.b": "own", "a": None, "a.c": "other"}


def test_tsv_of_two_columns_is_source_and_target(tmp_path):
    counts, rows, _ = extract(tmp_path, "tsv", "\ufeffone\teins\r\ntwo\tzwei")
    assert counts == {"lines": 2, "pairs": 2, "unreadable": 0}
    assert rows == [
        {"source": "one", "target": "eins", "line": 1},
        {"source": "two", "target": "zwei", "line": 2},
    ]


def test_tsv_third_column_is_the_score(tmp_path):
    _, rows, _ = extract(tmp_path, "tsv", "a\tb\t0.5\nc\td\t1e-1\n", ("en", "en"))
    assert [row["paraphrase_score"] for row in rows] == pytest.approx([0.5, 0.1])


@pytest.mark.parametrize(
    ("columns", "text", "line"),
    [(("3", "1"), "eins\tx\tone\n", 1), (("english", "german"), "german\tid\tenglish\neins\tx\tone\n", 2)],
)
def test_tsv_columns_by_number_or_by_header(tmp_path, columns, text, line):
    _, rows, _ = extract(tmp_path, "tsv", text, columns=columns)
    assert rows == [{"source": "one", "target": "eins", "line": line}]


def test_tsv_columns_follow_the_files_languages(tmp_path):
    _, rows, _ = extract(tmp_path, "tsv", "eins\tone\t0.5\n", order=("de", "en"))
    assert rows == [{"source": "one", "target": "eins", "line": 1, "paraphrase_score": 0.5}]


@pytest.mark.parametrize(
    ("columns", "text", "cause"),
    [
        (
            (),
            "a\tb\tc\td\n",
            "mine.tsv:1: 4 columns; name those of source and target, such as `columns: [1, 2]`",
        ),
        ((), "a\n", "mine.tsv:1: the line has no tab; a TSV file needs one between source and target"),
        (("1", "4"), "a\tb\tc\n", "mine.tsv:1: 3 columns; there is no column 4"),
        (("en", "nb"), "en\tde\na\tb\n", "mine.tsv:1: no column 'nb'; the header has 'en', 'de'"),
        (("en", "de"), "en\tde\tde\n", "mine.tsv:1: 2 columns 'de'; the header has 'en', 'de', 'de'"),
        (("en", "de"), "en\tde\0\nen\tde\n", "mine.tsv:1: the header cannot be read"),
        (("en", "de"), "en\tde\n", "mine.tsv: the corpus is empty: no lines"),
        ((), "", "mine.tsv: the corpus is empty: no lines"),
    ],
)
def test_tsv_whose_columns_are_not_there(tmp_path, columns, text, cause):
    assert cause in fault(tmp_path, "tsv", text, columns=columns, bound=100)


def test_unreadable_rows_of_a_tsv_are_left_out_and_listed(tmp_path, caplog):
    text = b"a\tb\t1\nalone\ncaf\xe9\tx\t1\nc\td\thigh\n\nx\ty\t1\tz\ne\tf\tnan\ng\th\t0\ni\tj\t\n"
    counts, rows, faults = extract(tmp_path, "tsv", text, bound=7)
    assert counts == {"lines": 9, "pairs": 2, "unreadable": 7}
    assert [(row["source"], row["line"]) for row in rows] == [("a", 1), ("g", 8)]
    assert "The extraction drops 78% of" in caplog.text
    hint = "; the third column is read as a score, and `columns: [1, 2]` ignores it"
    assert faults == [
        "2\t1 columns, the first line has 3",
        "3\tnot UTF-8: byte 0xe9",
        f"4\tthe score 'high' is not a number{hint}",
        "5\t1 columns, the first line has 3",
        "6\t4 columns, the first line has 3",
        f"7\tthe score 'nan' is not a number{hint}",
        f"9\tthe score '' is not a number{hint}",
    ]
    _, rows, _ = extract(tmp_path, "tsv", "a\tb\thigh\n", columns=("1", "2"))
    assert rows == [{"source": "a", "target": "b", "line": 1}]


def test_one_row_more_than_the_bound_stops(tmp_path):
    text = "a\tb\n" + "alone\n" * 3
    assert extract(tmp_path, "tsv", text, bound=3)[0]["unreadable"] == 3
    (tmp_path / "pairs.parquet").unlink()
    (tmp_path / "unreadable.tsv").unlink()
    message = fault(tmp_path, "tsv", text, bound=2)
    assert message == (
        f"{tmp_path / 'mine.tsv'}:4: 1 columns, the first line has 2 "
        "(3 unreadable rows; to allow more, set `extraction: {max_unreadable: N}`)"
    )
    assert "(1 unreadable row; to allow some, set" in fault(tmp_path, "tsv", text)


def test_a_file_without_a_readable_row_is_empty(tmp_path):
    message = fault(tmp_path, "tsv", b"\xff\tx\n\xff\ty\n", bound=5)
    assert message.endswith("mine.tsv: the corpus is empty: none of its 2 rows can be read")


def test_a_tsv_in_utf16(tmp_path):
    text = "one\teins\ntwo\tzwei\n"
    message = fault(tmp_path, "tsv", text.encode("utf-16"), bound=100)
    assert message.endswith("mine.tsv: not UTF-8 but UTF-16")
    assert "mine.tsv:1: contains a NUL character, which is not valid in text" in fault(
        tmp_path, "tsv", text.encode("utf-16-le")
    )


def test_a_long_cell_makes_no_long_message(tmp_path):
    message = fault(tmp_path, "tsv", f"a\tb\t1\na\tb\t{'x' * 100_000}\n")
    assert len(message.removeprefix(str(tmp_path))) < 250


# Files aligned by line


@pytest.mark.parametrize("chunk", [3, 1 << 20])
def test_a_line_that_is_not_utf8_is_left_out_on_both_sides(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr("paraphrastic_pipeline.base.lines._CHUNK_BYTES", chunk)
    files = sides(tmp_path, b"1\ncaf\xe9\n3\n4\xff", b"eins\nzwei\ndrei\n\xff\n")
    counts, rows, faults = extract_files(tmp_path, "aligned", files, bound=2)
    assert pairs(rows) == [("1", "eins"), ("3", "drei")]
    assert [row["line"] for row in rows] == [1, 3]
    assert counts == {"lines": 4, "pairs": 2, "unreadable": 2}
    assert faults == [
        f"{tmp_path / 'side0'}\t2\tnot UTF-8: byte 0xe9",
        f"{tmp_path / 'side0'}\t4\tnot UTF-8: byte 0xff",
    ]


def test_unequal_sides_stay_an_error_when_lines_are_unreadable(tmp_path):
    with pytest.raises(InputError, match=r"side0 has 3 lines, \S*side1 has 2 lines"):
        extract_files(tmp_path, "aligned", sides(tmp_path, b"1\n2\n\xff\n", b"1\n\xff\n"), bound=100)


def test_captions_of_an_unreadable_line_are_left_out(tmp_path):
    files = sides(tmp_path, "a1\na2\n", b"b1\n\xff\n", "c1\nc2\n", languages=["en"] * 3)
    counts, rows, _ = extract_files(tmp_path, "captions", files, ("en", "en"), bound=1)
    assert {row["line"] for row in rows} == {1}
    assert counts == {"lines": 2, "pairs": 3, "unreadable": 1}


# JSON lines


@pytest.mark.parametrize(
    "record",
    [
        {"id": 7, "de": "eins", "en": "one"},
        {"translation": {"en": "one", "de": "eins", "fr": "un"}, "source": "x", "target": "y"},
        {"source": "one", "target": "eins"},
    ],
)
def test_jsonl_keys_by_language_nested_or_by_side(tmp_path, record):
    _, rows, _ = extract(tmp_path, "jsonl", json.dumps(record) + "\n\n")
    assert rows == [{"source": "one", "target": "eins", "line": 1}]


def test_jsonl_paraphrases_with_a_score(tmp_path):
    text = '{"source": "a", "target": "b", "score": 0.5}\n{"source": "c", "target": "d", "score": 1}\n'
    _, rows, _ = extract(tmp_path, "jsonl", text, ("en", "en"))
    assert [row["paraphrase_score"] for row in rows] == [0.5, 1.0]


def test_jsonl_keys_by_name(tmp_path):
    text = '{"pair": {"s": "one", "t": "eins"}, "score": "no", "margin": 2}\n'
    _, rows, _ = extract(tmp_path, "jsonl", text, columns=("pair.s", "pair.t", "margin"))
    assert rows == [{"source": "one", "target": "eins", "line": 1, "paraphrase_score": 2.0}]


def test_jsonl_control_characters_are_spaces(tmp_path):
    _, rows, _ = extract(tmp_path, "jsonl", r'{"en": "one\n\ttwo\u0085\u0001", "de": "\ud83d\ude00"}')
    assert pairs(rows) == [("one  two  ", "😀")]


def test_jsonl_scores_that_the_first_record_has_not(tmp_path):
    lines = [
        '{"en": "one", "de": "eins"}',
        '{"en": "two", "de": "zwei", "score": 0.5}',
        '{"en": "three", "de": "drei", "translation_score": "high"}',
        '{"en": "four", "de": "vier", "score": null, "translation_score": {"nmt": 1}}',
    ]
    _, rows, faults = extract(tmp_path, "jsonl", "\n".join(lines), bound=2)
    assert [row["line"] for row in rows] == [1, 4]
    assert faults == [
        "2\thas a score, which the first record does not have",
        "3\thas a translation_score, which the first record does not have",
    ]
    # With these columns given, nobody asked for scores.
    _, rows, _ = extract(tmp_path, "jsonl", "\n".join(lines), columns=("en", "de"))
    assert [row["line"] for row in rows] == [1, 2, 3, 4]


DEEP = {"a": {"b": {"en": "one", "c.d": {"de": "eins"}}}, "x.y": {"score": 0.5}}
DEEP_COLUMNS = ("a.b.en", "a.b.c.d.de", "x.y.score")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_dots_lead_to_any_depth(tmp_path, kind):
    other = {"a": {"b": None, "f": "x"}}
    if kind == "jsonl":
        content = "\n".join(map(json.dumps, [DEEP, other]))
    else:
        content = tmp_path / "mine.parquet"
        pq.write_table(pa.Table.from_pylist([DEEP, other]), content)
    _, rows, faults = extract(tmp_path, kind, content, columns=DEEP_COLUMNS, bound=1)
    assert rows == [{"source": "one", "target": "eins", "line": 1, "paraphrase_score": 0.5}]
    assert faults == ["2\ta.b.en: is missing"]


def test_jsonl_nested_as_deeply_as_can_be_parsed(tmp_path):
    depth = next(depth for depth in range(100_000, 0, -10) if parses('{"a":' * depth + "1" + "}" * depth))
    text = '{"a":' * depth + "1" + "}" * depth
    _, rows, _ = extract(tmp_path, "jsonl", f'{text}\n{{"en": "one", "de": "eins"}}', bound=1)
    assert pairs(rows) == [("one", "eins")]


def parses(text):
    try:
        json.loads(text)
    except RecursionError:
        return False
    return True


def test_unreadable_rows_of_jsonl(tmp_path):
    lines = [
        '{"note": "this file has a head"}',
        '{"en": "one", "de": "eins", "score": 1}',
        '{"en": "one", "de": "eins"',
        '["one", "eins"]',
        '{"en": "one", "score": 1}',
        '{"en": "one", "de": 1, "score": 1}',
        '{"en": "one", "de": null, "score": 1}',
        '{"en": "one", "de": "eins", "score": true}',
        '{"en": "one", "de": "eins", "score": "x"}',
        '{"en": "one", "de": "\\ud83d", "score": 1}',
        "[" * 100_000,
        '{"en": "two", "de": "zwei", "score": 1}',
        '{"en": "t\\u0000wo", "de": "zwei", "score": 1}',
        '{"en": "two", "de": "zwei", "score": 1e39}',
    ]
    counts, rows, faults = extract(tmp_path, "jsonl", "\n".join(lines), bound=12)
    assert counts == {"lines": 14, "pairs": 2, "unreadable": 12}
    assert [row["line"] for row in rows] == [2, 12]
    assert faults == [
        "1\tno columns en and de, or source and target; it has 'note'",
        "3\tnot JSON: Expecting ',' delimiter at character 27",
        "4\tnot a JSON object",
        "5\tde: is missing",
        "6\tde: 1 is not text",
        "7\tde: is missing",
        "8\tthe score True is not a number",
        "9\tthe score 'x' is not a number",
        "10\tde: half of a surrogate pair",
        "11\tnot JSON: nested too deeply, or a number too long",
        "13\ten: contains a NUL character, which is not valid in text",
        "14\tthe score 1e+39 is too large",
    ]
    assert "mine.jsonl:5: de: is missing (4 unreadable rows; " in fault_again(tmp_path, lines)


def fault_again(tmp_path, lines):
    (tmp_path / "pairs.parquet").unlink()
    (tmp_path / "unreadable.tsv").unlink()
    return fault(tmp_path, "jsonl", "\n".join(lines), bound=3)


# Translation scores

BOTH = {"paraphrase_score": 0.5, "translation_score": -2.25}
ONE = {"translation_score": -2.25}


@pytest.mark.parametrize(
    ("kind", "content", "columns", "scores"),
    [
        ("tsv", "-2.25\tone\teins\t0.5\n", ("2", "3", "4", "1"), BOTH),
        ("tsv", "-2.25\tone\teins\tx\n", ("2", "3", "-", "1"), ONE),
        ("tsv", "nmt\ten\tde\n-2.25\tone\teins\n", ("en", "de", "-", "nmt"), ONE),
        ("jsonl", '{"en": "one", "de": "eins", "score": 0.5, "translation_score": -2.25}', (), BOTH),
        ("jsonl", '{"en": "one", "de": "eins", "translation_score": -2.25}', (), ONE),
        ("jsonl", '{"en": "one", "de": "eins", "a": -2.25, "b": 0.5}', ("en", "de", "b", "a"), BOTH),
        ("parquet", {"score": [0.5], "translation_score": [-2.25]}, (), BOTH),
        ("parquet", {"nmt": [-2.25]}, ("en", "de", "-", "nmt"), ONE),
    ],
)
def test_translation_scores(tmp_path, kind, content, columns, scores):
    if isinstance(content, dict):
        content = parquet(tmp_path, en=["one"], de=["eins"], **content)
    _, (row,), _ = extract(tmp_path, kind, content, columns=columns)
    assert {name: value for name, value in row.items() if name.endswith("score")} == scores
    assert (row["source"], row["target"]) == ("one", "eins")


def test_a_translation_score_that_is_none(tmp_path):
    text = "a\tb\t0.5\t1\na\tb\t0.5\tnan\na\tb\tx\t1\n"
    _, rows, faults = extract(tmp_path, "tsv", text, columns=("1", "2", "3", "4"), bound=2)
    assert len(rows) == 1
    assert faults == ["2\tthe score 'nan' is not a number", "3\tthe score 'x' is not a number"]


# Compression


def zstd(data: bytes) -> bytes:
    half = len(data) // 2  # two frames, as parallel tools write them
    return b"".join(pa.compress(part, codec="zstd", asbytes=True) for part in (data[:half], data[half:]))


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, zstd], ids=["gz", "bz2", "zst"])
@pytest.mark.parametrize("kind", ["tsv", "jsonl", "tmx"])
def test_compressed_inputs(tmp_path, kind, compress):
    content = {
        "tsv": "one\teins\n" * 9,
        "jsonl": '{"en": "one", "de": "eins"}\n' * 9,
        "tmx": tmx(*[variant("en", "one") + variant("de", "eins")] * 9),
    }[kind]
    path = tmp_path / "mine"
    path.write_bytes(compress(content.encode()))
    _, rows, _ = extract(tmp_path, kind, path)
    assert pairs(rows) == [("one", "eins")] * 9
    path.write_bytes(compress(content.encode())[:-3])
    (tmp_path / "pairs.parquet").unlink()
    (tmp_path / "unreadable.tsv").unlink()
    assert "mine: damaged: " in fault(tmp_path, kind, path, bound=100)


@pytest.mark.parametrize(
    ("text", "columns", "rows", "scores"),
    [
        ('one,eins\n"two, too","zwei ""2"""\n', (), [("one", "eins", 1), ("two, too", 'zwei "2"', 2)], []),
        ("DE,en\neins,one\n", (), [("one", "eins", 2)], []),
        ("target,source,score\neins,one,0.5\n", (), [("one", "eins", 2)], [0.5]),
        ("id,a,b\n7,one,eins\n", ("a", "b"), [("one", "eins", 2)], []),
        ("7,one,eins\n8,two,zwei\n", ("2", "3"), [("one", "eins", 1), ("two", "zwei", 2)], []),
        ('"one\n1",eins\n', (), [("one 1", "eins", 1)], []),
        ('one;eins\n"two; too";zwei, 2\n', (), [("one", "eins", 1), ("two; too", "zwei, 2", 2)], []),
        ('de;en;score\neins;"one\n1";0.5\n', (), [("one 1", "eins", 2)], [0.5]),
        ("a;b,c\nd;e,f\n", (), [("a;b", "c", 1), ("d;e", "f", 2)], []),
    ],
)
def test_csv(tmp_path, text, columns, rows, scores):
    _, found, _ = extract(tmp_path, "csv", text, columns=columns)
    assert [(row["source"], row["target"], row["line"]) for row in found] == rows
    assert [row["paraphrase_score"] for row in found if "paraphrase_score" in row] == scores


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("one\ntwo\n", "mine.csv:1: the line has no comma; a CSV file needs one between source and target"),
        ("a,b,c,d\n", "mine.csv:1: 4 columns; name those of source and target, such as `columns: [1, 2]`"),
    ],
)
def test_csv_without_pairs(tmp_path, text, cause):
    assert cause in fault(tmp_path, "csv", text)


def test_a_bad_row_of_csv_costs_itself_alone(tmp_path):
    text = 'one,eins\ntwo,zwei,deux\nthree,"drei\nfour,vier\n'
    counts, rows, faults = extract(tmp_path, "csv", text, bound=9)
    assert [row["source"] for row in rows] == ["one", "four"]
    assert faults[0] == "2\t3 columns, the header has 2"
    assert faults[1].startswith("3\tnot CSV: ")
    assert counts["unreadable"] == 2
