"""Test tables of pairs: TSV, CSV, JSON lines and Parquet, their headers, and rows that cannot be read."""

import csv
import gzip
import io
import json
import random
import re

import pyarrow as pa
import pytest
from extraction import extract, fault, pairs, parquet, tmx, variant

from paraphrastic.base.errors import InputError

# The first line, the languages of the pairs, and whether it is a header, whose columns are then found.
FIRST_LINES = [
    ("source|target", "en-de", True),
    ("SENTENCE1|Sentence2", "en-en", True),
    ("anchor|positive", "en-en", True),
    ("en|de", "en-de", True),
    ("English|German", "en-de", True),
    ("eng|de-AT", "en-de", True),
    ("en|de", "fr-es", False),
    ("a dog|ein Hund", "en-de", False),
    ("source|Quelle", "en-de", False),
]


@pytest.mark.parametrize("kind", ["tsv", "csv"])
@pytest.mark.parametrize(("first", "codes", "is_header"), FIRST_LINES)
def test_a_header_is_recognized_and_is_no_row(tmp_path, kind, first, codes, is_header):
    text = f"{first}\none|eins\n".replace("|", "\t" if kind == "tsv" else ",")
    for columns in ((), ("1", "2")):
        _, rows, _ = extract(tmp_path, kind, text, tuple(codes.split("-")), columns=columns)
        assert pairs(rows)[-1] == ("one", "eins")
        assert rows[-1]["line"] == 2
        assert len(rows) == (1 if is_header else 2)


@pytest.mark.parametrize(
    ("kind", "text", "columns", "row"),
    [
        ("tsv", "fr\ten\nun\tone\n", "", "one|un"),
        ("tsv", "\ufeffone\tun\r\n", "", "one|un"),
        ("tsv", "one\tun\t1e-1\n", "", "one|un|paraphrase_score=0.1"),
        ("tsv", "anchor\tpositive\tnegative\none\tun\ttwo\n", "", "one|un"),
        ("tsv", "id\ttarget\tsource\tScore\n7\tun\tone\t0.5\n", "", "one|un|paraphrase_score=0.5"),
        ("tsv", '"one\t"un"\n', "", '"one|"un"'),
        ("tsv", "un\tx\tone\n", "3 1", "one|un"),
        ("tsv", "a\tid\tb\nun\tx\tone\n", "b a", "one|un"),
        ("tsv", "-2\tone\tun\tx\n", "2 3 - 1", "one|un|translation_score=-2"),
        ("tsv", "0.5\tone\tun\t2\n", "2 3 1 4", "one|un|paraphrase_score=0.5|translation_score=2"),
        ("csv", '"one, ""1""",un\n', "", 'one, "1"|un'),
        ("csv", '"one\n1",un\n', "", "one 1|un"),
        ("csv", "target;source;score\nun;one, 1;0.5\n", "", "one, 1|un|paraphrase_score=0.5"),
        ("csv", "id,a,b\n7,one,un\n", "a b", "one|un"),
        ("csv", "7,one,un\n", "2 3", "one|un"),
        ("jsonl", '\n{"id": 7, "fr": "un", "EN": "one"}\n', "", "one|un"),
        ("jsonl", '{"translation": {"en": "one", "fr": "un"}, "source": "x", "target": "y"}', "", "one|un"),
        ("jsonl", '{"source": "one", "target": "un", "score": 0.5}', "", "one|un|paraphrase_score=0.5"),
        ("jsonl", '{"p": {"s": "one", "t": "un"}, "m": 2}', "p.s p.t - m", "one|un|translation_score=2"),
        ("jsonl", r'{"en": "one\n\ttwo\u0085", "fr": "\ud83d\ude00"}', "", "one  two |😀"),
        ("parquet", {"fr": ["un"], "en": ["one\n1"]}, "", "one 1|un"),
        ("parquet", {"translation": [{"en": "one", "fr": "un"}]}, "", "one|un"),
        ("parquet", {"s": ["one"], "t": ["un"], "m": [0.5]}, "s t m", "one|un|paraphrase_score=0.5"),
        ("parquet", {"source": pa.array(["one"]).dictionary_encode(), "target": ["un"]}, "", "one|un"),
    ],
)
def test_columns_by_name_and_by_number(tmp_path, kind, text, columns, row):
    content = parquet(tmp_path, **text) if kind == "parquet" else text
    _, (found,), _ = extract(tmp_path, kind, content, ("en", "fr"), columns=tuple(columns.split()))
    scores = [f"|{name}={value:g}" for name, value in found.items() if name.endswith("score")]
    assert "".join([f"{found['source']}|{found['target']}", *scores]) == row


def test_columns_follow_the_files_languages(tmp_path):
    _, rows, _ = extract(tmp_path, "tsv", "eins\tone\t0.5\n", order=("de", "en"))
    assert rows == [{"source": "one", "target": "eins", "line": 1, "paraphrase_score": 0.5}]


@pytest.mark.parametrize(
    ("kind", "text", "columns", "words"),
    [
        ("tsv", "a\tb\tc\td\n", (), ["columns", "'a', 'b', 'c', 'd'"]),
        ("tsv", "a\n", (), ["columns", "'a'"]),
        ("tsv", "a\tb\tc\n", ("1", "4"), ["'4'"]),
        ("tsv", "en\tde\na\tb\n", ("en", "nb"), ["'nb'", "'en', 'de'"]),
        ("csv", "en,de,de\n", ("en", "de"), ["2 columns 'de'"]),
        ("csv", "one\ntwo\n", (), ["columns", "'one'"]),
        ("tsv", "en\tde\n", (), ["empty"]),
        ("jsonl", '{"a": "x", "b": "y"}', (), ["'a', 'b'"]),
        ("jsonl", '{"en": "x"}', ("en", "de"), ["'de'", "'en'"]),
        ("parquet", {"a": ["x"], "b": ["y"]}, (), ["'a', 'b'"]),
        ("parquet", {"en": pa.array([], pa.string()), "de": pa.array([], pa.string())}, (), ["empty"]),
        ("tsv", "", (), ["empty"]),
        ("csv", "", (), ["empty"]),
        ("jsonl", "\n", (), ["empty"]),
        ("tsv", "one\teins\n".encode("utf-16"), (), ["UTF-16"]),
        ("tsv", "one\teins\n".encode("utf-16-le"), (), [":1: ", "NUL"]),
    ],
)  # fmt: skip
def test_a_table_without_pairs(tmp_path, kind, text, columns, words):
    message = fault(tmp_path, kind, parquet(tmp_path, **text) if kind == "parquet" else text, columns=columns)
    assert message.startswith(str(tmp_path / f"mine.{kind}"))
    assert all(word in message for word in words), message


ROWS = {
    "tsv": ["one\teins\t1", "alone", "c\td\thigh", "", "x\ty\t1\tz", "e\tf\tnan"],
    "csv": ["one,eins,1", "alone", "c,d,high", "x,y,1,z", '"n\0ul",y,1', '"open,x,1'],
    "jsonl": [
        '{"en": "one", "de": "eins", "score": 1}', '{"en": "one"', '["one"]', '{"en": "one", "de": "x"}',
        '{"en": "\\ud83d", "de": "x", "score": 1}', "[" * 100_000, '{"en": [1], "de": "x", "score": 1}',

    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", ROWS)
def test_rows_that_cannot_be_read_cost_themselves_alone(tmp_path, kind):
    # The last row is like the first one, and the row before it is not UTF-8.
    rows = [row.encode() for row in ROWS[kind]]
    rows += [rows[0].replace(b"one", b"caf\xe9"), rows[0].replace(b"one", b"two")]
    counts, found, places = extract(tmp_path, kind, b"\n".join(rows) + b"\n", share=0.8)
    assert pairs(found) == [("one", "eins"), ("two", "eins")]
    assert [row["line"] for row in found] == [1, len(rows)]
    assert counts == {"lines": len(rows), "pairs": 2, "unreadable": len(rows) - 2}
    # Rows are read in batches.
    assert sorted(places) == list(range(2, len(rows)))
    (tmp_path / "pairs.parquet").unlink()
    assert re.search(
        rf"mine\.{kind}:2: .*{len(rows) - 2} of {len(rows)}",
        fault(tmp_path, kind, b"\n".join(rows), share=0.7),
    )


def test_unreadable_rows_of_parquet(tmp_path):
    path = parquet(tmp_path, en=["one", "f\0ive", "two"], de=["eins", "x", "zwei"], score=[1.0, 1.0, None])
    counts, rows, places = extract(tmp_path, "parquet", path, share=0.8)
    assert pairs(rows) == [("one", "eins")]
    assert (counts["unreadable"], places) == (2, [2, 3])
    path.write_bytes(path.read_bytes()[:-10])
    (tmp_path / "pairs.parquet").unlink()
    assert "mine.parquet" in fault(tmp_path, "parquet", path)


def test_one_row_in_a_hundred_may_be_bad(tmp_path):
    text = "a\tb\n" * 99
    assert extract(tmp_path, "tsv", f"{text}alone\n", share=0.01)[0]["unreadable"] == 1
    (tmp_path / "pairs.parquet").unlink()
    assert "mine.tsv:99: " in fault(tmp_path, "tsv", f"{text[4:]}alone\n", share=0.01)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("tsv", "one\teins\n"),
        ("csv", "one,eins\n"),
        ("jsonl", '{"en": "one", "de": "eins"}\n'),
        ("tmx", tmx(variant("en", "one") + variant("de", "eins"))),
    ],
)
def test_compressed_inputs(tmp_path, kind, text):
    data, name = gzip.compress(text.encode()), f"mine.{kind}.gz"
    assert pairs(extract(tmp_path, kind, data, name=name)[1]) == [("one", "eins")]
    (tmp_path / "pairs.parquet").unlink()
    assert "damaged: " in fault(tmp_path, kind, data[:-3], name=name)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "tsv"])
def test_tables_hold_what_was_written(tmp_path, kind):
    """Whatever the cells hold, they come back; only control characters become spaces."""
    draw = random.Random(1)
    alphabet = "ab ,;'é字😀" + ('"\n' if kind in ("csv", "jsonl") else "")
    rows = [["".join(draw.choices(alphabet, k=8)) for _ in range(2)] for _ in range(300)]
    text = io.StringIO()
    if kind == "csv":
        csv.writer(text).writerows([("source", "target"), *rows])
    for one, other in rows:
        text.write(json.dumps({"source": one, "target": other}) + "\n" if kind == "jsonl" else "")
        text.write(f"{one}\t{other}\n" if kind == "tsv" else "")
    content = text.getvalue()
    if kind == "parquet":
        content = parquet(tmp_path, source=[one for one, _ in rows], target=[other for _, other in rows])
    _, found, _ = extract(tmp_path, kind, content)
    assert pairs(found) == [tuple(cell.replace("\n", " ") for cell in row) for row in rows]


@pytest.mark.parametrize(
    ("header", "labels"),
    [
        ("question1,question2,is_duplicate", "101"),
        ("sentence1,sentence2,label", ["1.0", "0.0", "1.0"]),
        ("anchor,positive,label", ["True", "FALSE", "true"]),
    ],
)
def test_labels_are_scores(tmp_path, header, labels):
    text = "".join(f"a{number},b{number},{label}\n" for number, label in enumerate(labels))
    counts, rows, _ = extract(tmp_path, "csv", f"{header}\n{text}", ("en", "en"))
    assert (counts["pairs"], counts["unreadable"]) == (3, 0)
    assert [row["paraphrase_score"] for row in rows] == [1, 0, 1]


@pytest.mark.parametrize(
    ("header", "columns", "cells", "scores"),
    [
        # A label counts more than a score.
        ("sentence1,sentence2,label,score", (), ["1,0.9", "0,0.8"], [1, 0]),
        ("sentence1,sentence2,score,label", (), ["0.9,1", "0.8,0"], [1, 0]),
        ("one,two,Quality", ("one", "two", "Quality"), ["1", "0.5"], [1, 0.5]),
    ],
)
def test_which_column_is_the_score(tmp_path, header, columns, cells, scores):
    text = "".join(f"a{number},b,{cell}\n" for number, cell in enumerate(cells))
    _, rows, _ = extract(tmp_path, "csv", f"{header}\n{text}", ("en", "en"), columns=columns)
    assert [row["paraphrase_score"] for row in rows] == scores


@pytest.mark.parametrize(
    ("scores", "score_range", "scaled"),
    [
        ((0.25, 1), (0, 1), [0.25, 1]),
        ((0, 2.5, 5), [0, 5], [0, 0.5, 1]),
        ((-1, 0.5), [-1, 1], [0, 0.75]),
        ((100, 40), [0, 100], [1, 0.4]),
        ((0.5, 4.8), (0, 1), None),
        ((-0.1, 0.4), (0, 1), None),
        ((5, 5.1), [0, 5], None),
    ],
)
def test_scores_are_scaled_or_stop_the_run(tmp_path, scores, score_range, scaled):
    lines = [{"sentence1": "a", "sentence2": "b", "score": score} for score in scores]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    if scaled is None:
        with pytest.raises(InputError, match=r"mine\.jsonl:\d: the score .*score_range"):
            extract(tmp_path, "jsonl", text, ("en", "en"), score_range=score_range)
    else:
        _, rows, _ = extract(tmp_path, "jsonl", text, ("en", "en"), score_range=score_range)
        assert [row["paraphrase_score"] for row in rows] == scaled
