"""Test corpora of groups: how sentences are found in every layout, and how pairs are drawn from them."""

import gzip
import json
import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from group_files import EVERY, extract, groups_of, packed, written

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.sentence_groups import _circle, drawn_pairs
from paraphrastic_pipeline.registry.datasets import members_error
from paraphrastic_pipeline.registry.group_layouts import matching

WMT = {
    "wmt-main/README.md": "no text",
    "wmt-main/txt/references/news.cs-en.ref.A.en": "a1\na2\n",
    "wmt-main/txt/references/news.cs-en.ref.B.en": "b1\nb2\n",
    "wmt-main/txt/references/news.de-en.ref.A.en": "x1\n",
    "wmt-main/txt/system-outputs/news.cs-en.hyp.One.en": "c1\nA2\n",
    "wmt-main/txt/system-outputs/news.de-en.hyp.One.en": "y1\n",
}
WMT_WORDS = "lines:**/references/<set>.ref.*.en lines:**/system-outputs/<set>.hyp.*.en"


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_lines_of_the_files_of_a_set_are_groups(tmp_path: Path, kind: str) -> None:
    # The name of the archive does not say what it is.
    archive = packed(tmp_path / "main", WMT, kind)
    expected = {frozenset({"a1", "b1", "c1"}), frozenset({"a2", "b2"}), frozenset({"x1", "y1"})}
    assert groups_of(extract(tmp_path, [(archive, WMT_WORDS)])) == expected


def test_files_of_a_set_may_be_in_several_archives(tmp_path: Path) -> None:
    archives = [packed(tmp_path / f"{n}.zip", {f"x.{n}.en": f"a{n}\nb{n}\n"}, "zip") for n in range(2)]
    rows = extract(tmp_path, [(path, "lines:<set>.?.en") for path in archives])
    assert groups_of(rows) == {frozenset({"a0", "a1"}), frozenset({"b0", "b1"})}


def test_keys_beside_a_file_tell_which_lines_belong_together(tmp_path: Path) -> None:
    members = {
        "c/bn-en/training.bn-en.en": "one\ntwo\nuno\nalone\n",
        "c/bn-en/training.bn-en.seg_ids": "7\n8\n7\n9\n",
        "c/hi-en/training.hi-en.en": "three\nfour\ndrei\n",
        "c/hi-en/training.hi-en.seg_ids": "7\n8\n7\n",
        "c/hi-en/dev.hi-en.en.0": "five\n",
        "c/hi-en/dev.hi-en.en.1": "cinq\n",
    }
    words = "lines:**/training.<pair>.en keys:**/training.<pair>.seg_ids lines:**/dev<test>.<pair>.en.?"
    rows = extract(tmp_path, [(packed(tmp_path / "a.zip", members, "zip"), words)])
    # The same key of another language is another group.
    assert groups_of(rows) == {
        frozenset(each) for each in ({"one", "uno"}, {"three", "drei"}, {"five", "cinq"})
    }


def test_plain_files_are_aligned_by_line(tmp_path: Path) -> None:
    files = [written(tmp_path / f"refs.{n}.txt", f"a{n}\nb{n}\n") for n in range(3)]
    rows = extract(tmp_path, [(path, "lines:refs.*.txt") for path in files])
    assert groups_of(rows) == {frozenset(f"{letter}{n}" for n in range(3)) for letter in "ab"}


ROWS = [
    ("v1", "a cat"),
    ("v2", "a dog"),
    ("v1", "the cat"),
    ("v3", "alone"),
    ("v2", "The  dog"),
    ("v1", "A Cat"),
]


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv", "tsv", "json.gz", "zip"])
def test_rows_with_equal_keys_are_a_group(tmp_path: Path, kind: str) -> None:
    records = [{"video_id": key, "about": {"caption": text}} for key, text in ROWS]
    words = "key:video_id text:about.caption"
    if kind in ("csv", "tsv"):
        separator = "," if kind == "csv" else "\t"
        words = "key:video_id text:about.caption"
        table = [("video_id", "about.caption"), *ROWS]
        text = "".join(f"{separator.join(row)}\n" for row in table)
    elif kind == "jsonl":
        text = "".join(f"{json.dumps(record)}\n" for record in records)
    else:
        text, words = json.dumps({"data": {"rows": records}}), f"{words} rows:data.rows"
    path = tmp_path / f"captions.{kind}"
    if kind == "zip":
        packed(path, {"a/captions.json": text, "a/readme.txt": "x"}, "zip")
        words += " table:a/*.json"
    elif kind.endswith("gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        written(path, text)
    rows = extract(tmp_path, [(path, words)])
    # Sentences that differ in case and spaces alone count once.
    assert groups_of(rows) == {frozenset({"a cat", "the cat"}), frozenset({"a dog", "The  dog"})}


def test_numbers_of_columns_need_no_header(tmp_path: Path) -> None:
    german = "I am busy.\tIch bin beschäftigt.\nI'm busy.\tIch bin beschäftigt.\nTea?\tTee?\n"
    path = packed(tmp_path / "a.zip", {"deu.txt": german, "_about.txt": "x"}, "zip")
    spanish = written(tmp_path / "spa.csv", "Tea?,¿Té?\nSome tea?,¿Té?\n")
    files = [(path, "table:deu.txt text:1 key:2"), (spanish, "text:1 key:2")]
    assert groups_of(extract(tmp_path, files)) == {
        frozenset({"I am busy.", "I'm busy."}),
        frozenset({"Tea?", "Some tea?"}),
    }
    with pytest.raises(InputError, match=r"spa\.csv:1: no column '3'; the header has '1', '2'"):
        extract(tmp_path, [(spanish, "text:1 key:3")])


def test_keys_in_several_columns_and_files(tmp_path: Path) -> None:
    head = "Book,Chapter,Verse,Text\n"
    one = written(tmp_path / "one.csv", f'{head}Gen,1,1,"In the beginning, God"\nGen,11,1,Other\n')
    two = written(tmp_path / "two.csv", f"{head}Gen,1,11,Third\nGen,1,1,At the first God\n")
    words = "key:Book key:Chapter key:Verse text:Text"
    rows = extract(tmp_path, [(one, words), (two, words)])
    assert groups_of(rows) == {frozenset({"In the beginning, God", "At the first God"})}


def test_columns_of_a_row_are_a_group_and_conditions_choose_rows(tmp_path: Path) -> None:
    text = (
        "id\tquestion 1\tquestion2\tis_duplicate\n"
        '1\t"Why ""so""?"\tWhy is it so?\t1\n'
        "2\tWho?\tWhere?\t0\n"
        '3\tWhat is "it"?\t"it" is what\t1\n'
    )
    path = written(tmp_path / "quora.tsv", text)
    rows = extract(tmp_path, [(path, "text:question%201 text:question2 where:is_duplicate=1")])
    assert groups_of(rows) == {
        frozenset({'Why "so"?', "Why is it so?"}),
        frozenset({'What is "it"?', '"it" is what'}),
    }


def test_linked_rows_have_one_group_and_pairs_of_their_own(tmp_path: Path) -> None:
    # The links 1-2, 2-3 and 9-3 join three rows; a link of a row that is left out joins nothing.
    text = "qid1,qid2,one,other,same\n1,2,a,b,1\n7,8,u,v,1\n2,3,b,c,1\n3,7,c,u,0\n9,3,d,c,1\n,5,x,y,1\n"
    path = written(tmp_path / "x.csv", text)
    words = "text:one text:other link:qid1 link:qid2 where:same=1"
    rows = extract(tmp_path, [(path, words)], max_unreadable=1)
    groups = {frozenset((row["source"], row["target"])): row["line"] for row in rows}
    assert groups == {frozenset("ab"): 1, frozenset("bc"): 1, frozenset("cd"): 1, frozenset("uv"): 2}
    # The groups of another layout have other numbers, also if the last row is in the first group.
    other = written(tmp_path / "y.csv", "one,other\ne,f\n")
    rows = extract(tmp_path, [(path, words), (other, "text:one text:other")], max_unreadable=1)
    assert groups_of(rows) == {frozenset("abcd"), frozenset("uv"), frozenset("ef")}
    assert (tmp_path / "unreadable.tsv").read_text().splitlines()[1].split("\t")[1:] == [
        "7",
        "has an empty qid1",
    ]


@pytest.mark.parametrize("rows", [1, 5000])
def test_a_chain_of_links_is_one_group_whatever_its_order(tmp_path: Path, rows: int) -> None:
    order = np.random.default_rng(1).permutation(rows)
    lines = [f"{n},{n + 1},one {n},other {n}" for n in order]
    path = written(tmp_path / "x.csv", "\n".join(["a,b,one,other", *lines, ""]))
    found = extract(tmp_path, [(path, "text:one text:other link:a link:b")])
    assert len(found) == rows
    assert {row["line"] for row in found} == {1}


def test_neighbours_on_a_circle_come_first_and_then_those_farther_away() -> None:
    assert list(_circle(1)) == []
    assert list(_circle(2)) == [(0, 1)]
    assert list(_circle(4)) == [(0, 1), (2, 3), (1, 2), (0, 3), (0, 2), (1, 3)]
    # Of each distance, pairs that share no sentence come first.
    assert list(_circle(8)) == [
        (0, 1), (2, 3), (4, 5), (6, 7), (1, 2), (3, 4), (5, 6), (0, 7),
        (0, 2), (1, 3), (4, 6), (5, 7), (2, 4), (3, 5), (0, 6), (1, 7),
        (0, 3), (1, 4), (2, 5), (1, 6), (2, 7), (3, 6), (4, 7), (0, 5), (0, 4), (1, 5), (2, 6), (3, 7),
    ]  # fmt: skip


def test_csv_keeps_ends_of_lines_in_quotes_and_names_broken_rows(tmp_path: Path) -> None:
    text = 'a,b\n"one\nmore, ""word""",two\nx\n"broken"quote,y\nthree,four\n'
    path = written(tmp_path / "x.csv", text)
    rows = extract(tmp_path, [(path, "text:a text:b")], max_unreadable=2)
    assert groups_of(rows) == {frozenset({'one more, "word"', "two"}), frozenset({"three", "four"})}
    places = [line.split("\t")[1:] for line in (tmp_path / "unreadable.tsv").read_text().splitlines()[1:]]
    assert places == [["4", "1 columns, the header has 2"], ["5", "not CSV: ',' expected after '\"'"]]


@pytest.mark.parametrize(
    ("name", "text", "words", "cause"),
    [
        ("x.csv", "a,b\n1,2\n", "text:a text:c", r"x\.csv: no column 'c'; the header has 'a', 'b'"),
        (
            "x.json",
            '{"rows": [], "more": 1}',
            "rows:data text:a",
            "has no rows in data: no data; it holds rows, more",
        ),
        ("x.json", '{"a": 1}', "text:a", "has no list of rows; name it by rows:"),
        ("x.json", "[1", "text:a", "not JSON"),
        ("x.json", '[{"b": 1}, 5]', "text:a", r"x\.json:1: has no a"),
        ("x.log", "a\n", "text:a", "is no table: its name has none of the endings"),
        ("x.txt", "a\n", "lines:*.en", r"no file matches \*\.en; there are x\.txt"),
        ("x.csv", "a,b\nsame,SAME\n", "text:a text:b", "the corpus is empty"),
        ("x.csv", "a,b,one,other\n", "text:one text:other link:a link:b", "the corpus is empty: no lines"),
    ],
)
def test_faults_are_one_line(tmp_path: Path, name: str, text: str, words: str, cause: str) -> None:
    with pytest.raises(InputError, match=cause):
        extract(tmp_path, [(written(tmp_path / name, text), words)])
    assert not (tmp_path / "pairs.parquet").exists()


def test_text_without_pairs_is_where_the_words_say(tmp_path: Path) -> None:
    table = "one\teins\tx\n \tleer\tx\ntwo\tzwei\tx\n"
    path = packed(tmp_path / "a.zip", {"deu.txt": table, "notes": "x"}, "zip")
    rows = written(tmp_path / "b.jsonl", '{"q": "three", "a": "four"}\n{"q": "five", "a": ""}\n[]\n')
    files = [(path, "table:deu.txt 1"), (rows, "text:q a")]
    found = extract(tmp_path, files, kind="text", max_unreadable=1)
    assert [row["source"] for row in found] == ["one", "two", "three", "four", "five"]
    assert all(row["source"] == row["target"] for row in found)
    # Files of lines may be among them. No two rows have the same number.
    plain = [(written(tmp_path / name, f"{name}1\n\n{name}2\twith\n"), "") for name in "xy"]
    found = extract(tmp_path, [*plain, *files], kind="text", max_unreadable=1)
    assert [row["source"] for row in found][:5] == ["x1", "x2 with", "y1", "y2 with", "one"]
    assert [row["line"] for row in found] == [1, 3, 4, 6, 7, 9, 10, 10, 11]
    assert members_error("text", ()) is None
    assert members_error("text", ("text:a", "where:b=1")) is None
    for word in ("key:b", "link:b"):
        assert "text has no groups" in str(members_error("text", ("text:a", word)))


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("text",), "'text' is none of lines:…"),
        (("column:a",), "'column:a' is none of"),
        (("key:a",), "needs lines:… or text:…"),
        (("lines:a", "text:b"), "lines:… goes with keys:… alone"),
        (("text:a", "keys:b"), "keys:… is for lines:…"),
        (("text:a", "where:b"), "where:… needs a column and a value"),
        (("text:a", "rows:b", "rows:c"), "rows:… is given twice"),
        (("text:a", "key:b", "where:c=1"), None),
    ],
)
def test_words_of_a_layout(words: tuple[str, ...], cause: str | None) -> None:
    error = members_error("groups", words)
    assert error is None if cause is None else cause in str(error)


def test_patterns() -> None:
    names = ["a/b/x.1.en", "x.2.en", "a/x.en", "a/b/x.1.de", "x.1.2.en"]
    assert set(matching("**/x.?.en", names)) == {"a/b/x.1.en", "x.2.en"}
    assert set(matching("x.*.en", names)) == {"x.2.en", "x.1.2.en"}
    assert matching("<folder>/x.<n>en", ["a/x.1.en"]) == {"a/x.1.en": (("folder", "a"), ("n", "1."))}
    assert set(matching("<n>/<n>.en", ["1/1.en", "1/2.en"])) == {"1/1.en"}
    assert matching("a.b", ["axb"]) == {}


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9])
def test_all_pairs_of_a_group_are_drawn_once(n: int) -> None:
    sentences = [f"s{i}" for i in range(n)]
    pairs = [frozenset(pair[:2]) for pair in drawn_pairs([(1, sentences)], pairs_per_group=EVERY, seed=1)]
    assert len(pairs) == n * (n - 1) // 2
    assert set(pairs) == {frozenset(pair) for pair in combinations(sentences, 2)}


@pytest.mark.parametrize(("n", "most"), [(10, 5), (20, 10), (7, 7), (20_000, 10)])
def test_few_pairs_share_no_sentence_and_many_use_all_alike(n: int, most: int) -> None:
    sentences = [f"s{i}" for i in range(n)]
    pairs = list(drawn_pairs([(1, sentences)], pairs_per_group=most, seed=1))
    counts = Counter(sentence for pair in pairs for sentence in pair[:2])
    assert len(pairs) == most
    assert set(counts.values()) == {2 if most == n else 1}
    other = list(drawn_pairs([(1, sentences)], pairs_per_group=most, seed=2))
    assert pairs != other
    random.Random(1).shuffle(sentences)
    # The order of the sentences in the corpus does not matter.
    assert list(drawn_pairs([(1, sentences)], pairs_per_group=most, seed=1)) == pairs


def test_a_pair_in_both_directions_is_drawn_in_one() -> None:
    groups = [(n, [f"a{n // 2}", f"b{n // 2}"][:: 1 if n % 2 else -1]) for n in range(200)]
    pairs = [pair[:2] for pair in drawn_pairs(groups, pairs_per_group=1, seed=1)]
    assert set(Counter(pairs).values()) == {2}
    sources = Counter(source[0] for source, _ in pairs)
    assert min(sources.values()) > 60


def test_a_large_group_with_keys_out_of_order(tmp_path: Path) -> None:
    rows = [(key, f"sentence {n} of {key}") for n in range(5000) for key in ("large",)]
    rows += [(f"small {n // 2}", f"text {n}") for n in range(2_000)] + [("alone", "x")]
    random.Random(3).shuffle(rows)
    path = written(tmp_path / "x.jsonl", "".join(json.dumps({"k": k, "t": t}) + "\n" for k, t in rows))
    found = extract(tmp_path, [(path, "key:k text:t")], per_group=10)
    assert len(found) == 10 + 1_000
    assert sum("of large" in row["source"] for row in found) == 10
    assert len({row["line"] for row in found}) == 1_001
