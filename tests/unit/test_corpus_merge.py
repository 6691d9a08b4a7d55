"""Test that merging handles duplicates, caps and the shuffle, and always gives the same result."""

import gzip
import json
import platform
import random
import subprocess
from collections import Counter
from dataclasses import fields
from hashlib import md5
from itertools import pairwise

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pair_files import marked, write_pairs

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.corpus.counts import read_merged
from paraphrastic_pipeline.corpus.database import open_database
from paraphrastic_pipeline.corpus.merge import Merging, merge_pairs


def write(path, pairs, lines=None, raw=None):
    """Write selected pairs; `raw` is the text of each pair's line, by default the pair itself."""
    digests = [md5(text.encode()).digest() for text in raw or map("\t".join, pairs)]
    return write_pairs(path, pairs, lines, raw=pa.array(digests, pa.binary(16)))


def held(tmp_path, source, target):
    """Write a pair of the first line of the first corpus that is held out."""
    return write_pairs(tmp_path / "held", [(source, target)], corpus=pa.array([0], pa.int16()))


def merge(tmp_path, selected, output="merged.parquet", **changes):
    settings = {
        "duplicates": "keep_one",
        "contaminated": [],
        "drop": [],
        "near_duplicates": None,
        "max_pairs": [None] * len(selected),
        "weights": [1] * len(selected),
        "seed": 1,
        "memory_mb": 200,
        "threads": 2,
        **changes,
    }
    merging = Merging(
        **{field.name: settings.pop(field.name) for field in fields(Merging) if field.name in settings}
    )
    output, counts = tmp_path / output, tmp_path / "counts.json"
    result = merge_pairs(
        selected, output, counts=counts, merging=merging, temporary=tmp_path / "temporary", **settings
    )
    assert result == json.loads(counts.read_text())
    assert list((tmp_path / "temporary").iterdir()) == []
    return result, pq.read_table(output).to_pylist()


def places(rows):
    return sorted((row["corpus"], row["line"]) for row in rows)


@pytest.fixture
def two(tmp_path):
    one = write(
        tmp_path / "one", [("a", "b"), ("c", "d"), ("a", "b"), ("e", "f"), ("ab", "")], [1, 3, 4, 7, 9]
    )
    other = write(tmp_path / "other", [("b", "a"), ("c", "d"), ("x", "y"), ("x", "y"), ("a", "b")])
    return [one, other]


def test_the_counts_of_text_without_pairs_are_marked(tmp_path, two):
    counts, _ = merge(tmp_path, two, texts=[1])
    assert [corpus.get("without_pairs") for corpus in counts["corpora"]] == [None, True]
    assert [corpus.without_pairs for corpus in read_merged(tmp_path / "counts.json")] == [False, True]


def test_keep_one_keeps_the_first_copy(tmp_path, two, caplog):
    counts, rows = merge(tmp_path, two)
    # A corpus that loses much is named.
    assert caplog.text.count("The merge drops") == 1
    assert f"The merge drops 60% of {two[1]}, 3 of 5 pairs: all because of duplicates" in caplog.text
    none = dict.fromkeys(("near_duplicates", "contaminated", "held_out", "capped"), 0)
    assert places(rows) == [(0, 1), (0, 3), (0, 7), (0, 9), (1, 1), (1, 3)]
    assert {(row["source"], row["target"]) for row in rows if row["corpus"] == 1} == {("b", "a"), ("x", "y")}
    assert counts == {
        "read": 10,
        "duplicates": 4,
        "kept": 6,
        **none,
        "corpora": [
            {"file": str(two[0]), "read": 5, "duplicates": 1, "kept": 4, **none},
            {"file": str(two[1]), "read": 5, "duplicates": 3, "kept": 2, **none},
        ],
    }
    assert pq.read_schema(tmp_path / "merged.parquet").types == [
        pa.string(), pa.string(), pa.int16(), pa.int64()
    ]  # fmt: skip


def test_drop_all_drops_every_copy(tmp_path, two):
    counts, rows = merge(tmp_path, two, duplicates="drop_all")
    # Two corpora may have the same pair, as each is a file of its own in `sort | uniq -u`.
    assert places(rows) == [(0, 3), (0, 7), (0, 9), (1, 1), (1, 2), (1, 5)]
    assert [corpus["duplicates"] for corpus in counts["corpora"]] == [2, 2]


def test_drop_all_compares_lines_as_the_corpus_has_them(tmp_path):
    pairs = [("a", "b"), ("a", "b"), ("c", "d"), ("c", "d")]
    path = write(tmp_path / "one", pairs, raw=["A\tb", "a\tb", "c\td", "c\td"])
    assert places(merge(tmp_path, [path], duplicates="drop_all")[1]) == [(0, 1), (0, 2)]
    assert places(merge(tmp_path, [path])[1]) == [(0, 1), (0, 3)]


def test_drop_all_is_uniq(tmp_path):
    draw = random.Random(3)
    lines = [f"{draw.choice('abcd')}{draw.choice('efgh')}\t{draw.choice('ijkl ')}" for _ in range(80)]
    path = write(tmp_path / "one", [line.split("\t") for line in lines])
    text = "".join(f"{line}\n" for line in lines)
    uniq = subprocess.run(
        "sort | uniq -u", shell=True, input=text, stdout=subprocess.PIPE, text=True, check=True
    )
    _, rows = merge(tmp_path, [path], duplicates="drop_all")
    assert sorted(f"{row['source']}\t{row['target']}" for row in rows) == sorted(uniq.stdout.splitlines())
    assert 5 < len(rows) < 75


def test_keep_all_keeps_every_copy(tmp_path, two):
    counts, rows = merge(tmp_path, two, duplicates="keep_all")
    assert len(rows) == counts["kept"] == 10
    assert counts["duplicates"] == 0


def test_order_of_the_corpora_decides_which_copy_is_kept(tmp_path, two):
    _, rows = merge(tmp_path, two[::-1])
    assert places(rows) == [(0, 1), (0, 2), (0, 3), (0, 5), (1, 7), (1, 9)]


def test_pairs_of_one_line_are_told_apart(tmp_path):
    path = write(tmp_path / "captions", [("a", "b"), ("a", "c"), ("b", "c"), ("a", "b")], [1, 1, 1, 1])
    _, rows = merge(tmp_path, [path])
    assert sorted((row["source"], row["target"]) for row in rows) == [("a", "b"), ("a", "c"), ("b", "c")]


def test_caps_are_random_choices_after_duplicates(tmp_path):
    one = write(tmp_path / "one", [(f"s{n // 2}", "t") for n in range(2000)])
    other = write(tmp_path / "other", [(f"u{n}", "t") for n in range(300)])
    counts, rows = merge(tmp_path, [one, other], max_pairs=[100, None])
    assert [corpus["kept"] for corpus in counts["corpora"]] == [100, 300]
    assert [corpus["duplicates"] for corpus in counts["corpora"]] == [1000, 0]
    assert [corpus["capped"] for corpus in counts["corpora"]] == [900, 0]
    lines = [row["line"] for row in rows if row["corpus"] == 0]
    assert 600 < sum(lines) / 100 < 1400
    _, again = merge(tmp_path, [one, other], max_pairs=[100, None], seed=2)
    assert len(set(lines) & {row["line"] for row in again if row["corpus"] == 0}) < 40
    assert merge(tmp_path, [one, other], max_pairs=[5000, 300])[0]["capped"] == 0


def test_weights_repeat_pairs_in_other_places(tmp_path):
    one = write(tmp_path / "one", [(f"s{n}", "t") for n in range(2000)])
    other = write(tmp_path / "other", [(f"u{n}", "t") for n in range(300)])
    counts, rows = merge(tmp_path, [one, other], weights=[1, 2.25], max_pairs=[None, 200])
    assert [corpus["kept"] for corpus in counts["corpora"]] == [2000, 200]
    times = Counter(row["line"] for row in rows if row["corpus"] == 1)
    assert len(times) == 200
    assert set(times.values()) == {2, 3}
    assert 30 < sum(each == 3 for each in times.values()) < 70
    assert len(rows) == 2000 + sum(times.values())
    first, second = {}, {}
    for place, row in enumerate(rows):
        if row["corpus"] == 1:
            (second if row["line"] in first else first).setdefault(row["line"], place)
    apart = [second[line] - first[line] for line in first]
    assert min(apart) < 200
    assert max(apart) > 1000
    # Weights of other corpora leave a corpus where it was.
    plain = [row for row in merge(tmp_path, [one, other])[1] if row["corpus"] == 0]
    assert [row for row in rows if row["corpus"] == 0] == plain


@pytest.mark.parametrize(
    ("drop", "expected", "contaminated"),
    [
        ([], [(0, 1), (0, 3), (0, 7), (0, 9), (1, 1), (1, 3)], [0, 0]),
        (["exact"], [(0, 3), (0, 7), (0, 9), (1, 1)], [1, 1]),
        (["exact", "near"], [(0, 3), (0, 9), (1, 1)], [2, 1]),
    ],
)
def test_contaminated_pairs_are_left_out(tmp_path, two, drop, expected, contaminated):
    # Both copies of a pair are marked. A pair that stands in two test sets is dropped once.
    one = [(0, "sts", "exact"), (0, "tatoeba", "near"), (2, "sts", "exact"), (3, "sts", "near")]
    other = [(2, "sts", "exact"), (3, "sts", "exact"), (4, "sts", "exact")]
    marks = [marked(tmp_path / "m'1", one), marked(tmp_path / "m2", other)]
    counts, rows = merge(tmp_path, two, contaminated=marks, drop=drop)
    assert places(rows) == expected
    assert [corpus["contaminated"] for corpus in counts["corpora"]] == contaminated
    assert [corpus["duplicates"] for corpus in counts["corpora"]] == [1, 3]
    assert counts["contaminated"] == sum(contaminated)
    assert counts["kept"] == len(expected)


@pytest.mark.parametrize("drop", [[], ["exact"]])
def test_held_out_lines_and_pairs_with_such_sentences_are_left_out(tmp_path, drop):
    # Three pairs of the first line mean the same.
    one = write(
        tmp_path / "one", [("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("f", "g")], [1, 1, 1, 2, 3]
    )
    other = write(tmp_path / "other", [("h", "i"), ("a", "z"), ("k", "l"), ("n", "o")])
    # What only the test sets have does not count as held out, and the other way round.
    marks = [
        marked(tmp_path / "m1", [(0, "held_out", "exact"), (3, "sts", "exact"), (4, "held_out", "near")]),
        marked(tmp_path / "m2", [(1, "held_out", "exact"), (2, "sts", "near")]),
    ]
    counts, rows = merge(
        tmp_path, [one, other], contaminated=marks, drop=drop, held_out=held(tmp_path, "a", "b")
    )
    expected = [(1, 1), (1, 3), (1, 4)] if drop else [(0, 2), (1, 1), (1, 3), (1, 4)]
    assert places(rows) == expected
    assert [corpus["held_out"] for corpus in counts["corpora"]] == [4, 1]
    assert counts["contaminated"] == len(drop)


def test_pairs_that_resemble_held_out_ones_stay_if_nearly_all_do(tmp_path, caplog):
    path = write(tmp_path / "one", [(f"Open file {number}", f"{number}") for number in range(100)])
    held_out = held(tmp_path, "Open file 0", "0")
    exact = [(0, "held_out", "exact"), (1, "held_out", "exact")]
    for near, left in ((10, 88), (11, 98)):
        marks = marked(
            tmp_path / "marks", [*exact, *((row, "held_out", "near") for row in range(2, 2 + near))]
        )
        counts, rows = merge(tmp_path, [path], contaminated=[marks], held_out=held_out)
        assert (counts["held_out"], len(rows)) == (100 - left, left)
    assert "11 pairs resemble held-out ones, too many to leave them out of the training data" in caplog.text


def test_nothing_left_of_what_is_held_out(tmp_path):
    path = write(tmp_path / "one", [("a", "b")])
    marks = marked(tmp_path / "marks", [(0, "held_out", "exact")])
    with pytest.raises(InputError, match=r"one: no pair is left of 1: the others are held out"):
        merge(tmp_path, [path], contaminated=[marks], held_out=held(tmp_path, "a", "b"))


def test_caps_come_after_contamination(tmp_path):
    path = write(tmp_path / "one", [(f"s{n}", "t") for n in range(100)])
    marks = marked(tmp_path / "marks", [(n, "sts", "exact") for n in range(90)])
    counts, rows = merge(tmp_path, [path], contaminated=[marks], drop=["exact"], max_pairs=[20])
    assert (counts["contaminated"], counts["capped"], counts["kept"]) == (90, 0, 10)
    assert {row["line"] for row in rows} == set(range(91, 101))


def test_nothing_left_of_the_contaminated(tmp_path):
    path = write(tmp_path / "one", [("a", "b"), ("a", "b")])
    marks = marked(tmp_path / "marks", [(0, "sts", "exact"), (1, "sts", "exact")])
    with pytest.raises(InputError, match=r"one: no pair is left of 2: the others occur in a test set"):
        merge(tmp_path, [path], contaminated=[marks], drop=["exact"])


def test_a_damaged_table_of_contamination(tmp_path):
    path = write(tmp_path / "one", [("a", "b")])
    (tmp_path / "marks").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"marks: not readable as Parquet"):
        merge(tmp_path, [path], contaminated=[tmp_path / "marks"], drop=["exact"])


def test_shuffle_mixes_corpora_and_is_seeded(tmp_path):
    one = write(tmp_path / "one", [(f"s{n}", "t") for n in range(1000)])
    other = write(tmp_path / "other", [(f"u{n}", "t") for n in range(1000)])
    # The capped corpus is spread over the whole file too, because its draw and its place in the order are
    # independent.
    _, rows = merge(tmp_path, [one, other], max_pairs=[500, None])
    positions = [index for index, row in enumerate(rows) if row["corpus"] == 0]
    assert 600 < sum(positions) / len(positions) < 900
    lines = [row["line"] for row in rows if row["corpus"] == 1]
    rises = sum(a < b for a, b in pairwise(lines))
    assert 430 < rises < 570
    other_order = [row["line"] for row in merge(tmp_path, [one, other], seed=2)[1] if row["corpus"] == 1]
    assert sorted(other_order) == sorted(lines)
    assert other_order != lines


def test_bytes_depend_on_neither_threads_nor_memory(tmp_path, monkeypatch):
    pairs = [(f"source {n % 12_000} " + "x" * 50, "target " * 5) for n in range(30_000)]
    selected = [write(tmp_path / "one", pairs[:20_000]), write(tmp_path / "other", pairs[20_000:])]
    for name, settings in (("a", {"threads": 1}), ("b", {"threads": 4}), ("c", {"memory_mb": 60})):
        merge(tmp_path, selected, name, max_pairs=[None, 1000], **settings)
        monkeypatch.setattr("paraphrastic_pipeline.corpus.merge._ROWS_PER_MB", 60)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()
    metadata = pq.read_metadata(tmp_path / "a")
    assert metadata.num_rows == 12_000


def test_a_pair_at_the_border_of_two_slices_is_written_once(tmp_path, monkeypatch):
    """Numbers at the ends of slices hardly ever come up, so they are given here."""
    path = write(tmp_path / "one", [(f"s{n}", f"t{n}") for n in range(900)])
    monkeypatch.setattr("paraphrastic_pipeline.corpus.merge._ROWS_PER_MB", 3)
    # With 200 MB, there are two slices of numbers below 2^64.
    numbers = ", ".join(f"{number}::UBIGINT" for number in (0, 2**63 - 1, 2**63, 2**64 - 1))
    monkeypatch.setattr(
        "paraphrastic_pipeline.corpus.merge.random_number",
        lambda *_: f"list_extract([{numbers}], 1 + place % 4)",
    )
    _, rows = merge(tmp_path, [path])
    assert [row["line"] for row in rows] == [n for start in (1, 2, 3, 4) for n in range(start, 901, 4)]


def test_paths_with_quotes(tmp_path):
    path = write(tmp_path / "o'ne", [("a", "b")])
    assert merge(tmp_path, [path])[0]["kept"] == 1


def test_nothing_left(tmp_path):
    path = write(tmp_path / "one", [("a", "b"), ("a", "b")])
    with pytest.raises(InputError, match=r"one: no pair is left of 2: each has a duplicate"):
        merge(tmp_path, [path], duplicates="drop_all")
    assert not (tmp_path / "merged.parquet").exists()
    assert not (tmp_path / "counts.json").exists()


def test_damaged_input(tmp_path):
    path = write(tmp_path / "one", [("a", "b")] * 1000)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"one: not readable as Parquet"):
        merge(tmp_path, [path])


def test_a_flipped_bit_that_duckdb_does_not_notice_is_named(tmp_path):
    generator = random.Random(3)
    path = write(tmp_path / "one", [("".join(generator.choices("abcdefgh", k=20)), "b") for _ in range(2000)])
    write_table(path, pq.read_table(path))
    whole = path.read_bytes()
    for place in generator.sample(range(100, len(whole) // 2), 5):
        flipped = bytearray(whole)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        with pytest.raises(InputError, match=r"one: damaged: "):
            merge(tmp_path, [path])


@pytest.mark.parametrize("error", [duckdb.IOException, duckdb.OutOfMemoryException])
def test_full_disk_is_one_line(tmp_path, monkeypatch, error):
    def full(*_, **__):
        raise error("IO Error: Could not write file: No space left on device\n\nMany words of advice")

    monkeypatch.setattr("paraphrastic_pipeline.corpus.merge.drop_duplicates", full)
    path = write(tmp_path / "one", [("a", "b")])
    with pytest.raises(InputError) as caught:
        merge(tmp_path, [path])
    message = str(caught.value)
    assert message.endswith("IO Error: Could not write file: No space left on device")
    assert str(tmp_path / "temporary") in message
    assert list((tmp_path / "temporary").iterdir()) == []


def test_too_little_memory(tmp_path):
    path = write(tmp_path / "one", [(f"s{n}", "t") for n in range(100_000)])
    with pytest.raises(InputError, match=r"merged\.parquet: cannot be merged, .* Out of Memory"):
        merge(tmp_path, [path], memory_mb=2)


@pytest.mark.slow("reads all captions of Multi30k")
def test_multi30k_without_duplicates(tmp_path, mirror):
    """Multi30k has three pairs twice: keeping one copy leaves 28,997 pairs, and keeping none 28,994."""
    folder = mirror / "raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
    sides = [gzip.decompress((folder / f"train.{code}.gz").read_bytes()).decode() for code in ("en", "de")]
    pairs = list(zip(*(side.lower().split("\n")[:-1] for side in sides), strict=True))
    path = write(tmp_path / "multi30k", pairs)
    assert merge(tmp_path, [path])[0]["kept"] == 28_997
    assert merge(tmp_path, [path], duplicates="drop_all")[0]["kept"] == 28_994


def test_many_corpora_take_no_more_memory_than_one(tmp_path):
    """Texts that do not fit into the memory are sorted on the disk, in however many files they are."""
    draw = random.Random(4)
    paths = []
    for number in range(14):
        sides = [[draw.randbytes(90).hex() for _ in range(12_000)] for _ in range(2)]
        paths.append(write(tmp_path / f"{number}", list(zip(*sides, strict=True))))
    counts, rows = merge(tmp_path, paths, memory_mb=90)
    assert counts["kept"] == len(rows) == 14 * 12_000


def test_temporary_folder_is_left_to_its_owner(tmp_path):
    kept = tmp_path / "temporary" / "other job"
    kept.mkdir(parents=True)
    ended = subprocess.Popen(["true"])
    ended.wait()
    leftover = tmp_path / "temporary" / f"pairs-{platform.node()}-{ended.pid}.abc"
    leftover.mkdir()
    with open_database("x", memory_mb=200, threads=1, temporary=tmp_path / "temporary"):
        assert len(list(kept.parent.iterdir())) == 2
    assert kept.is_dir()
    assert not leftover.exists()


def test_groups_are_those_of_a_pairs_sentences_also_by_dropped_pairs(tmp_path):
    one = write(tmp_path / "one", [("a", "b"), ("c", "d"), ("b", "e"), ("x", "y")], [1, 2, 1, 4])
    # The first pair is a copy, and so its line is the only hint that `a` and `f` are of one group.
    two = write(tmp_path / "two", [("a", "b"), ("f", "g"), ("h", "c")], [1, 1, 5])
    _, rows = merge(tmp_path, [one, two], grouped=True, weights=[1, 2])
    found = {(row["source"], row["target"]): set(row["groups"]) for row in rows}
    assert all(sorted(found[row["source"], row["target"]]) == row["groups"] for row in rows)
    of_a, of_c, of_x = found["a", "b"], found["c", "d"], found["x", "y"]
    # Lines 1 of both corpora; `a` and `b` are in both, `e` shares a pair with `b`.
    assert len(of_a) == 2
    assert found["b", "e"] == of_a
    assert found["f", "g"] < of_a
    assert len(found["f", "g"]) == 1
    # `c` is in a line of either corpus, and `h` is in one of them.
    assert len(of_c) == 2
    assert found["h", "c"] == of_c
    assert len(of_x) == 1
    assert not of_a & of_c
    assert not of_x & (of_a | of_c)


@pytest.mark.parametrize(("lines", "expected"), [(256, 256), (257, 1)])
def test_a_sentence_in_too_many_groups_counts_in_that_of_its_pair(tmp_path, lines, expected):
    one = write(tmp_path / "one", [("yes", f"answer {number}") for number in range(lines)])
    _, rows = merge(tmp_path, [one], grouped=True)
    assert {len(row["groups"]) for row in rows} == {expected}
    assert len({tuple(row["groups"]) for row in rows}) == (lines if expected == 1 else 1)


def test_groups_change_neither_pairs_nor_their_order(tmp_path, two):
    _, plain = merge(tmp_path, two)
    _, grouped = merge(tmp_path, two, grouped=True, memory_mb=100, threads=1)
    assert [{key: row[key] for key in plain[0]} for row in grouped] == plain
