"""Test that merging handles duplicates, caps and the shuffle, and always gives the same result."""

import json
import random
from collections import Counter, defaultdict
from hashlib import md5
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pair_files import marked, write_pairs

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.merge import merge_pairs

NO_REASONS = dict.fromkeys(("duplicates", "contaminated", "held_out", "capped"), 0)


def write(path, pairs, lines=None, raw=None):
    """Write selected pairs; `raw` is the text of each pair's line, by default the pair itself."""
    digests = [md5(text.encode()).digest() for text in raw or map("\t".join, pairs)]
    return write_pairs(path, pairs, lines, raw=pa.array(digests, pa.binary(16)))


def held(folder, lines):
    """Write held-out pairs of these corpora and lines."""
    corpora, numbers = zip(*lines, strict=True)
    return write_pairs(
        folder / "held", [("a", "b")] * len(lines), numbers, corpus=pa.array(corpora, pa.int16())
    )


def merge(folder, selected, output="merged.parquet", **changes):
    names = ("duplicates", "drop", "max_pairs", "weights", "grouped", "texts", "allow_few")
    every = {"duplicates": "keep_one", "drop": [], "max_pairs": [None] * len(selected)}
    every |= {"weights": [1] * len(selected), "allow_few": True, **changes}
    resources = {"memory_mb": 200, "threads": 2, "temporary": folder / "temporary"}
    resources |= {name: value for name, value in changes.items() if name in resources}
    settings = {"contaminated": [], "seed": 1}
    settings |= {name: value for name, value in changes.items() if name not in (*names, *resources)}
    merging = {name: every[name] for name in names if name in every}
    counts = folder / "counts.json"
    result = merge_pairs(
        selected, folder / output, counts=counts, merging=merging, resources=resources, **settings
    )
    assert result == json.loads(counts.read_text())
    assert list((folder / "temporary").iterdir()) == []
    return result, pq.read_table(folder / output).to_pylist()


def numbered(folder, *sizes):
    """Write corpora of pairs that all differ."""
    return [
        write(folder / f"corpus{number}", [(f"s {number} {n}", "t") for n in range(size)])
        for number, size in enumerate(sizes)
    ]


def lines_of(rows, corpus):
    return [row["line"] for row in rows if row["corpus"] == corpus]


def plainly_merged(corpora, duplicates, marks, drop, lines):
    """The pairs that are left, with their groups, and the counts of each corpus."""
    rows = [(c, r, *row) for c, corpus in enumerate(corpora) for r, row in enumerate(corpus)]
    copies = Counter((c, raw) for c, *_, raw in rows)
    numbers = sorted({(c, line) for c, _, _, _, line, _ in rows})
    seen, groups = set(), defaultdict(set)
    for c, _, source, target, line, _ in rows:
        for sentence in (source, target):
            groups[sentence].add(numbers.index((c, line)))
    kept, counts = [], [{"read": len(corpus), **NO_REASONS, "kept": 0} for corpus in corpora]
    for c, r, source, target, line, raw in rows:
        is_copy = {"keep_one": (source, target) in seen, "drop_all": copies[c, raw] > 1}
        seen.add((source, target))
        kinds = [(testset == "held_out", kind) for row, testset, kind in marks[c] if row == r]
        reasons = {
            "duplicates": is_copy.get(duplicates, False),
            "contaminated": any((False, kind) in kinds for kind in drop),
            "held_out": (c, line) in lines or any((True, kind) in kinds for kind in ("exact", *drop)),
            "kept": True,
        }
        fate = next(reason for reason, is_so in reasons.items() if is_so)
        counts[c][fate] += 1
        if fate == "kept":
            kept.append((c, source, target, line, sorted(groups[source] | groups[target])))
    return kept, counts


@pytest.mark.parametrize("seed", range(9))
def test_what_is_left_beside_plain_sets(tmp_path, seed):
    draw = random.Random(seed)

    def row():
        source, target = draw.choice("abcdefgh"), draw.choice("hijklmnop ")
        return source, target, draw.randrange(1, 20), f"{draw.choice([source, source.upper()])}\t{target}"

    corpora = [[row() for _ in range(40)] for _ in range(3)]
    # A pair that is written the other way round, or differs in what divides its sides, is another one.
    corpora[0] += [("ab", "", 30, "ab\t"), ("a", "b", 31, "a\tb"), ("b", "a", 32, "b\ta")]
    kinds = [(name, kind) for name in ("sts", "tatoeba", "held_out") for kind in ("exact", "near")]
    marks = [
        [(row, *each) for row in draw.sample(range(40), 6) for each in draw.sample(kinds, 2)] for _ in corpora
    ]
    duplicates = ("keep_one", "drop_all", "keep_all")[seed % 3]
    drop = ([], ["exact"], ["exact", "near"])[seed // 3]
    lines = [(0, 3), (2, 8), (2, 19)]
    kept, counts = plainly_merged(corpora, duplicates, marks, drop, lines)
    selected = []
    for c, corpus in enumerate(corpora):
        sources, targets, numbers, raw = zip(*corpus, strict=True)
        pairs = list(zip(sources, targets, strict=True))
        selected.append(write(tmp_path / f"o'ne{c}", pairs, numbers, raw))
    marked_files = [marked(tmp_path / f"m'{c}", each) for c, each in enumerate(marks)]
    changes = {"duplicates": duplicates, "contaminated": marked_files, "drop": drop, "texts": [1]}
    changes |= {"held_out": held(tmp_path, lines)}
    result, rows = merge(tmp_path, selected, grouped=True, **changes)
    names = ("corpus", "source", "target", "line", "groups")
    assert sorted(tuple(row[name] for name in names) for row in rows) == sorted(kept)
    files = [{"file": str(path)} for path in selected]
    files[1]["without_pairs"] = True
    assert result.pop("corpora") == [file | count for file, count in zip(files, counts, strict=True)]
    assert result == {key: sum(count[key] for count in counts) for key in counts[0]}
    # Groups change neither the pairs nor their order.
    for row in rows:
        del row["groups"]
    assert merge(tmp_path, selected, **changes, memory_mb=100, threads=1)[1] == rows


@pytest.mark.parametrize(("lines", "expected"), [(256, 256), (257, 1)])
def test_a_sentence_in_too_many_groups_counts_in_that_of_its_pair(tmp_path, lines, expected):
    one = write(tmp_path / "one", [("yes", f"answer {number}") for number in range(lines)])
    _, rows = merge(tmp_path, [one], grouped=True)
    assert {len(row["groups"]) for row in rows} == {expected}
    assert len({tuple(row["groups"]) for row in rows}) == (lines if expected == 1 else 1)


def test_caps_are_random_and_come_last(tmp_path, caplog):
    one, other = write(tmp_path / "one", [(f"s{n // 2}", "t") for n in range(2000)]), *numbered(tmp_path, 300)
    marks = [marked(tmp_path / "m0", []), marked(tmp_path / "m1", [(n, "sts", "exact") for n in range(290)])]
    settings = {"contaminated": marks, "drop": ["exact"], "max_pairs": [100, 20]}
    counts, rows = merge(tmp_path, [one, other], **settings)
    names = ("duplicates", "contaminated", "capped", "kept")
    found = [[corpus[name] for name in names] for corpus in counts["corpora"]]
    assert found == [[1000, 0, 900, 100], [0, 290, 0, 10]]
    # A corpus that loses much is named.
    assert [str(path) in text for path, text in zip((one, other), caplog.messages, strict=True)] == [True] * 2
    lines = lines_of(rows, 0)
    assert 600 < sum(lines) / 100 < 1400
    assert sorted(lines_of(rows, 1)) == list(range(291, 301))
    _, again = merge(tmp_path, [one, other], **settings, seed=2)
    assert len(set(lines) & set(lines_of(again, 0))) < 40


def test_the_shuffle_mixes_corpora_and_is_seeded_and_weights_repeat_pairs(tmp_path):
    selected, settings = numbered(tmp_path, 2000, 300), {"max_pairs": [None, 200]}
    plain, other = (merge(tmp_path, selected, seed=seed, **settings)[1] for seed in (1, 2))
    lines = lines_of(plain, 0)
    assert 900 < sum(a < b for a, b in pairwise(lines)) < 1100
    assert sorted(lines) == sorted(lines_of(other, 0))
    assert lines != lines_of(other, 0)
    # The capped corpus is spread over the whole file: its choice and its order are independent.
    places = [place for place, row in enumerate(plain) if row["corpus"] == 1]
    assert 900 < sum(places) / 200 < 1300
    counts, rows = merge(tmp_path, selected, weights=[1, 2.25], **settings)
    assert [corpus["kept"] for corpus in counts["corpora"]] == [2000, 200]
    repeated = defaultdict(list)
    for place, row in enumerate(rows):
        if row["corpus"] == 1:
            repeated[row["line"]].append(place)
    assert set(repeated) == set(lines_of(plain, 1))
    times = Counter(map(len, repeated.values()))
    assert set(times) == {2, 3}
    assert 30 < times[3] < 70
    assert max(second - first for first, second, *_ in repeated.values()) > 1000
    # Weights of other corpora leave a corpus where it was.
    assert lines_of(rows, 0) == lines


def test_bytes_depend_on_neither_threads_nor_memory(tmp_path, monkeypatch):
    pairs = [(f"source {n % 12_000} " + "x" * 50, "target " * 5) for n in range(30_000)]
    selected = [write(tmp_path / "one", pairs[:20_000]), write(tmp_path / "other", pairs[20_000:])]
    for name, settings in (("a", {"threads": 1}), ("b", {"threads": 4}), ("c", {"memory_mb": 60})):
        merge(tmp_path, selected, name, max_pairs=[None, 1000], **settings)
        # Now the rows are read in several parts.
        monkeypatch.setattr("paraphrastic_pipeline.corpus.merge._ROWS_PER_MB", 60)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()
    assert pq.read_metadata(tmp_path / "a").num_rows == 12_000


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"duplicates": "drop_all"}, "0 of 2 .*duplicates 2"),
        ({"contaminated": [(0, "sts", "exact")], "drop": ["exact"]}, "0 of 2 .*duplicates 1, contaminated 1"),
        ({"contaminated": [(0, "held_out", "exact")], "held_out": (0, 9)}, "0 of 2 .*held_out 1"),
        ({"allow_few": False}, "1 of 2 .*duplicates 1; .*allow_few"),
    ],
)  # fmt: skip
def test_if_nothing_is_left_one_line_says_why(tmp_path, changes, cause):
    path = write(tmp_path / "one", [("a", "b"), ("a", "b")])
    if marks := changes.get("contaminated"):
        changes = changes | {"contaminated": [marked(tmp_path / "marks", marks)]}
    if line := changes.get("held_out"):
        changes = changes | {"held_out": held(tmp_path, [line])}
    with pytest.raises(InputError, match=rf"one: {cause}") as caught:
        merge(tmp_path, [path], **changes)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "merged.parquet").exists()


def test_too_little_memory(tmp_path):
    with pytest.raises(InputError, match=r"merged\.parquet: .*temporary.* Out of Memory") as caught:
        merge(tmp_path, numbered(tmp_path, 100_000), memory_mb=2)
    assert "\n" not in str(caught.value)
    assert list((tmp_path / "temporary").iterdir()) == []
