"""Test corpora of groups: the reader of each source, tables of a user, and the pairs that are drawn."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from archives import make_zip
from extraction import extract_files

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.groups import READERS, drawn_pairs
from paraphrastic_pipeline.registry.datasets import read_registry

WMT = {
    "wmt-main/README.md": "no text",
    "wmt-main/txt/references/news.cs-en.ref.A.en": "a1\na2\n",
    "wmt-main/txt/references/news.cs-en.ref.B.en": "b1\nb2\n",
    "wmt-main/txt/references/news.de-en.ref.A.en": "x1\n",
    "wmt-main/txt/references/news.en-de.ref.A.de": "german\n",
    "wmt-main/txt/system-outputs/news.cs-en.hyp.One.en": "c1\nA2\n",
    "wmt-main/txt/system-outputs/news.de-en.hyp.One.en": "y1\n",
    # The same test set in another form, with other lines.
    "wmt-main/txt-ts/references/news.cs-en.ref.A.en": "t1\n",
    "wmt-main/txt-ts/system-outputs/news.cs-en.hyp.One.en": "u1\n",
}
INDIAN = {
    "c/bn-en/training.bn-en.en": "one\ntwo\nuno\nalone\n",
    "c/bn-en/training.bn-en.seg_ids": "7\n8\n7\n9\n",
    "c/hi-en/training.hi-en.en": "three\nfour\ndrei\n",
    "c/hi-en/training.hi-en.seg_ids": "7\n8\n7\n",
    "c/hi-en/dev.hi-en.en.0": "five\n",
    "c/hi-en/dev.hi-en.en.1": "cinq\n",
    "c/hi-en/test.hi-en.en.0": "six\n",
    "c/hi-en/test.hi-en.en.1": "seis\n",
}
CAPTIONS = [
    ("v1", "a cat"),
    ("v2", "a dog"),
    ("v1", "the cat"),
    ("v3", "monolingual"),
    ("v2", "The  dog"),
    ("v1", "A Cat"),
]
BIBLE = "Book,Chapter,Verse,Text\n"
QUORA = (
    "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
    '0\t1\t2\t"Why ""so""?"\tb\t1\n1\t7\t8\tu\tv\t1\n2\t2\t3\tb\tc\t1\n3\t3\t7\tc\tu\t0\n4\t9\t3\td\tc\t1\n'
)


def archive(folder: Path, members: dict[str, str]) -> Path:
    return make_zip(folder / "main", {name: text.encode() for name, text in members.items()})


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def extract(
    folder: Path, paths: Sequence[Path], *members: str, kind: str = "groups", share: float = 0
) -> Any:
    """The pairs that are drawn from files with the same members, and the places that cannot be read."""
    files = [(path, {"languages": ("en",), "members": members}) for path in paths]
    _, rows, places = extract_files(folder, kind, files, ("en", "en"), share=share)
    return rows, places


def groups_of(rows: list[dict[str, Any]]) -> set[frozenset[str]]:
    found: dict[int, set[str]] = {}
    for row in rows:
        found.setdefault(row["line"], set()).update((row["source"], row["target"]))
    return {frozenset(sentences) for sentences in found.values()}


def sets(*groups: str) -> set[frozenset[str]]:
    return {frozenset(group.split("|")) for group in groups}


def test_wmt_groups_the_lines_of_a_test_set(tmp_path: Path) -> None:
    rows, _ = extract(tmp_path, [archive(tmp_path, WMT)], "wmt")
    assert groups_of(rows) == sets("a1|b1|c1", "a2|b2", "x1|y1")


def test_indian_ids_are_of_one_language(tmp_path: Path) -> None:
    rows, _ = extract(tmp_path, [archive(tmp_path, INDIAN)], "indian")
    assert groups_of(rows) == sets("one|uno", "three|drei", "five|cinq")


@pytest.mark.parametrize(
    ("reader", "member", "rows", "key"),
    [
        ("coco", "annotations/captions_val2017.json", "annotations", "image_id"),
        ("msr_vtt", "test_videodatainfo.json", "sentences", "video_id"),
    ],
)
def test_captions_in_json(tmp_path: Path, reader: str, member: str, rows: str, key: str) -> None:
    content = json.dumps({rows: [{key: video, "caption": text} for video, text in CAPTIONS]})
    path = archive(tmp_path, {member: content, "annotations/instances_val2017.json": "{}"})
    # Sentences that differ in case and spaces alone count once.
    assert groups_of(extract(tmp_path, [path], reader)[0]) == sets("a cat|the cat", "a dog|The  dog")
    for broken in (content[:-1], content.replace("caption", "text"), "[1]"):
        with pytest.raises(InputError, match=f"{member.split('.')[0]}"):
            extract(tmp_path, [archive(tmp_path, {member: broken})], reader)


def test_verses_of_several_bibles(tmp_path: Path) -> None:
    one = written(tmp_path / "one.csv", f'{BIBLE}Gen,1,1,"In the beginning, God"\nGen,11,1,Other\n')
    two = written(tmp_path / "two.csv", f"{BIBLE}Gen,1,11,Third\nGen,1,1,At the first God\n")
    rows, _ = extract(tmp_path, [one, two], "bible")
    assert groups_of(rows) == sets("In the beginning, God|At the first God")


def test_linked_questions_have_one_group_and_pairs_of_their_own(tmp_path: Path) -> None:
    rows, _ = extract(tmp_path, [written(tmp_path / "quora.tsv", QUORA)], "quora")
    groups = {frozenset((row["source"], row["target"])): row["line"] for row in rows}
    # The questions 1-2, 2-3 and 9-3 join three rows; a row that is no duplicate joins nothing.
    first = frozenset(('Why "so"?', "b"))
    assert groups == {first: 1, frozenset("bc"): 1, frozenset("cd"): 1, frozenset("uv"): 2}


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("x.csv", 'a,n,b\n"one\nmore, ""word""",1,two\nx\nthree,2,four\n', "a b"),
        ("x.jsonl", '{"a": "one more, \\"word\\"", "b": "two"}\n[]\n{"a": "three", "b": "four"}\n', "a b"),
        ("x.tsv", 'one more, "word"\ttwo\nx\0\nthree\tfour\n', ""),
    ],
)
def test_a_row_of_a_users_table_is_a_group(tmp_path: Path, name: str, text: str, columns: str) -> None:
    rows, places = extract(tmp_path, [written(tmp_path / name, text)], "table", *columns.split(), share=0.4)
    assert groups_of(rows) == sets('one more, "word"|two', "three|four")
    assert len(places) == 1


@pytest.mark.parametrize(
    ("text", "members", "words"),
    [
        ("a,b\n1,2\n", "table a c", "'c'"),
        ("a,b\nsame,SAME\n", "table a b", "empty"),
        ("a,b\n", "wmt", "damaged"),
        ("a,b\n", "tables a b", "'tables'"),
    ],
)
def test_groups_that_are_not_there(tmp_path: Path, text: str, members: str, words: str) -> None:
    with pytest.raises(InputError, match=rf"x\.csv.*{words}"):
        extract(tmp_path, [written(tmp_path / "x.csv", text)], *members.split())
    assert not (tmp_path / "pairs.parquet").exists()


def test_the_registry_names_readers_that_there_are() -> None:
    datasets = [each for each in read_registry("config/datasets.tsv").values() if each.kind == "groups"]
    assert {file.members[0] for each in datasets for file in each.files} == {*READERS}


def test_text_without_pairs(tmp_path: Path) -> None:
    table = "one\teins\tx\n \tleer\tx\ntwo\tzwei\tx\n"
    member, _ = extract(
        tmp_path, [archive(tmp_path, {"deu.txt": table, "notes": "x"})], "deu.txt", kind="text"
    )
    rows = written(tmp_path / "b.jsonl", '{"q": "one", "a": "two"}\n{"q": "", "a": ""}\n')
    columns, _ = extract(tmp_path, [rows], "q", "a", kind="text")
    for found in (member, columns):
        assert [(row["source"], row["target"]) for row in found] == [("one", "one"), ("two", "two")]
    # No two lines of several files have the same number.
    plain = [written(tmp_path / name, f"{name}1\n\n{name}2\twith\n") for name in "xy"]
    found, _ = extract(tmp_path, plain, kind="text")
    assert [(row["source"], row["line"]) for row in found] == [
        ("x1", 1),
        ("x2 with", 3),
        ("y1", 4),
        ("y2 with", 6),
    ]


@pytest.mark.parametrize(("n", "count"), [(4, 6), (5, 10), (10, 10), (20, 10), (20_000, 10)])
def test_ten_pairs_of_a_group_use_all_sentences_alike(n: int, count: int) -> None:
    sentences = [f"s{i}" for i in range(n)]
    pairs = list(drawn_pairs(iter([(1, sentences)]), seed=1))
    counts = Counter(sentence for pair in pairs for sentence in pair[:2])
    assert len({frozenset(pair[:2]) for pair in pairs}) == count
    assert max(counts.values()) - min(counts.values()) == 0
    assert pairs != list(drawn_pairs(iter([(1, sentences)]), seed=2))
    random.Random(1).shuffle(sentences)
    # The order of the sentences in the corpus does not matter.
    assert list(drawn_pairs(iter([(1, sentences)]), seed=1)) == pairs


def test_a_pair_in_both_directions_is_drawn_in_one() -> None:
    groups = [(n, [f"a{n // 2}", f"b{n // 2}"][:: 1 if n % 2 else -1]) for n in range(200)]
    pairs = [pair[:2] for pair in drawn_pairs(iter(groups), seed=1)]
    assert set(Counter(pairs).values()) == {2}
    sources = Counter(source[0] for source, _ in pairs)
    assert min(sources.values()) > 60
