"""Test that merging handles duplicates, caps and the shuffle, and always gives the same result."""

import gzip
import json
import platform
import random
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from hashlib import md5
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pair_files import marked, write_pairs

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.merge import Merging, merge_pairs

Rows = list[dict[str, Any]]
NO_REASONS = dict.fromkeys(("duplicates", "contaminated", "held_out", "capped"), 0)


def write(
    path: Path, pairs: Sequence[tuple[str, str]], lines: Sequence[int] = (), raw: Sequence[str] = ()
) -> Path:
    """Write selected pairs; `raw` is the text of each pair's line, by default the pair itself."""
    digests = [md5(text.encode()).digest() for text in raw or map("\t".join, pairs)]
    return write_pairs(path, pairs, lines, raw=pa.array(digests, pa.binary(16)))


def held(folder: Path, *lines: tuple[int, int]) -> Path:
    """Write held-out pairs of these corpora and lines."""
    corpora = pa.array([corpus for corpus, _ in lines], pa.int16())
    return write_pairs(
        folder / "held", [("a", "b")] * len(lines), [line for _, line in lines], corpus=corpora
    )


def merge(
    folder: Path, selected: Sequence[Path], output: str = "merged.parquet", **changes: Any
) -> tuple[dict[str, Any], Rows]:
    settings = {
        "duplicates": "keep_one",
        "contaminated": [],
        "drop": [],
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
    counts = folder / "counts.json"
    result = merge_pairs(
        selected, folder / output, counts=counts, merging=merging, temporary=folder / "temporary", **settings
    )
    assert result == json.loads(counts.read_text())
    assert list((folder / "temporary").iterdir()) == []
    return result, pq.read_table(folder / output).to_pylist()


def numbered(folder: Path, *sizes: int) -> list[Path]:
    """Write corpora of pairs that all differ."""
    return [
        write(folder / f"corpus{number}", [(f"s {number} {n}", "t") for n in range(size)])
        for number, size in enumerate(sizes)
    ]


def lines_of(rows: Rows, corpus: int) -> list[int]:
    return [row["line"] for row in rows if row["corpus"] == corpus]


def plainly_merged(
    corpora: list[list[tuple[str, str, int]]], duplicates: str, marks: Any, drop: list[str], lines: Any
) -> tuple[dict[tuple[int, int], Any], list[dict[str, int]]]:
    """The pairs that are left, by corpus and row, with their groups, and the counts of each corpus."""
    rows = {(c, r): row for c, corpus in enumerate(corpora) for r, row in enumerate(corpus)}
    copies = Counter((c, *row[:2]) for (c, _), row in rows.items())
    first = {}
    for place, row in rows.items():
        first.setdefault(row[:2], place)
    group_of = {key: n for n, key in enumerate(sorted({(c, row[2]) for (c, _), row in rows.items()}))}
    groups: dict[str, set[int]] = {}
    for (c, _), row in rows.items():
        for sentence in row[:2]:
            groups.setdefault(sentence, set()).add(group_of[c, row[2]])
    kept, counts = {}, [{"read": 0, **NO_REASONS, "kept": 0} for _ in corpora]
    for (c, r), row in rows.items():
        is_copy = {
            "keep_one": first[row[:2]] != (c, r), "drop_all": copies[c, *row[:2]] > 1, "keep_all": False
        }  # fmt: skip
        kinds = [(testset, kind) for number, testset, kind in marks[c] if number == r]
        is_held = (c, row[2]) in lines or any(t == "held_out" and k in {"exact", *drop} for t, k in kinds)
        reasons = {
            "duplicates": is_copy[duplicates],
            "contaminated": any(t != "held_out" and k in drop for t, k in kinds),
            "held_out": is_held,
            "kept": True,
        }
        fate = next(reason for reason, is_so in reasons.items() if is_so)
        counts[c]["read"] += 1
        counts[c][fate] += 1
        if fate == "kept":
            kept[c, r] = (*row, sorted(groups[row[0]] | groups[row[1]]))
    return kept, counts


@pytest.mark.parametrize("seed", range(9))
def test_what_is_left_beside_plain_dictionaries(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    corpora = [
        [(draw.choice("abcdefgh"), draw.choice("hijklmnop "), draw.randrange(1, 20)) for _ in range(40)]
        for _ in range(3)
    ]
    # A pair that is written the other way round, or differs in what divides its sides, is another one.
    corpora[0] += [("ab", "", 30), ("a", "b", 31), ("b", "a", 32)]
    marks = [
        [(row, testset, kind) for row in draw.sample(range(40), 6)
         for testset, kind in draw.sample([("sts", "exact"), ("sts", "near"), ("held_out", "near"),
                                           ("held_out", "exact"), ("tatoeba", "exact")], 2)]
        for _ in corpora
    ]  # fmt: skip
    duplicates = ("keep_one", "drop_all", "keep_all")[seed % 3]
    drop = ([], ["exact"], ["exact", "near"])[seed // 3]
    lines = [(0, 3), (2, 8), (2, 19)]
    kept, counts = plainly_merged(corpora, duplicates, marks, drop, lines)
    selected = [
        write(tmp_path / f"o'ne{c}", [row[:2] for row in rows], [row[2] for row in rows])
        for c, rows in enumerate(corpora)
    ]
    result, rows = merge(
        tmp_path,
        selected,
        duplicates=duplicates,
        contaminated=[marked(tmp_path / f"m'{c}", each) for c, each in enumerate(marks)],
        drop=drop,
        held_out=held(tmp_path, *lines),
        grouped=True,
        texts=[1],
    )
    found = [(row["corpus"], row["source"], row["target"], row["line"], row["groups"]) for row in rows]
    assert sorted(found) == sorted((c, *row) for (c, _), row in kept.items())
    files = [{"file": str(path)} for path in selected]
    files[1]["without_pairs"] = True
    assert result.pop("corpora") == [file | count for file, count in zip(files, counts, strict=True)]
    assert result == {key: sum(count[key] for count in counts) for key in counts[0]}


def test_groups_change_neither_pairs_nor_their_order_and_the_file_has_its_schema(tmp_path: Path) -> None:
    selected = numbered(tmp_path, 50, 20)
    _, plain = merge(tmp_path, selected)
    assert pq.read_schema(tmp_path / "merged.parquet").types == [
        pa.string(), pa.string(), pa.int16(), pa.int64()
    ]  # fmt: skip
    _, grouped = merge(tmp_path, selected, grouped=True, memory_mb=100, threads=1)
    assert [{key: row[key] for key in plain[0]} for row in grouped] == plain


@pytest.mark.parametrize(("lines", "expected"), [(256, 256), (257, 1)])
def test_a_sentence_in_too_many_groups_counts_in_that_of_its_pair(
    tmp_path: Path, lines: int, expected: int
) -> None:
    one = write(tmp_path / "one", [("yes", f"answer {number}") for number in range(lines)])
    _, rows = merge(tmp_path, [one], grouped=True)
    assert {len(row["groups"]) for row in rows} == {expected}
    assert len({tuple(row["groups"]) for row in rows}) == (lines if expected == 1 else 1)


def test_drop_all_is_uniq_on_lines_as_the_corpus_has_them(tmp_path: Path) -> None:
    draw = random.Random(3)
    lines = [f"{draw.choice('abAB')}{draw.choice('efEF')}\t{draw.choice('ijkl ')}" for _ in range(80)]
    path = write(tmp_path / "one", [tuple(line.lower().split("\t")) for line in lines], raw=lines)
    uniq = subprocess.run(
        "sort | uniq -u", shell=True, input="\n".join([*lines, ""]), stdout=subprocess.PIPE, text=True,
        check=True, env={"LC_ALL": "C"},
    ).stdout.splitlines()  # fmt: skip
    _, rows = merge(tmp_path, [path], duplicates="drop_all")
    assert sorted(lines[row["line"] - 1] for row in rows) == sorted(uniq)
    assert 5 < len(rows) < 75


def test_caps_are_random_and_come_last(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    one, other = write(tmp_path / "one", [(f"s{n // 2}", "t") for n in range(2000)]), *numbered(tmp_path, 300)
    counts, rows = merge(tmp_path, [one, other], max_pairs=[100, None])
    names = ("duplicates", "capped", "kept")
    assert [[corpus[name] for name in names] for corpus in counts["corpora"]] == [
        [1000, 900, 100],
        [0, 0, 300],
    ]
    # A corpus that loses much is named.
    (message,) = caplog.messages
    assert f"95% of the pairs of {one}" in message
    lines = lines_of(rows, 0)
    assert 600 < sum(lines) / 100 < 1400
    _, again = merge(tmp_path, [one, other], max_pairs=[100, None], seed=2)
    assert len(set(lines) & set(lines_of(again, 0))) < 40
    assert merge(tmp_path, [one, other], max_pairs=[5000, 300])[0]["capped"] == 0
    marks = [marked(tmp_path / "m0", []), marked(tmp_path / "m1", [(n, "sts", "exact") for n in range(290)])]
    counts, rows = merge(tmp_path, [one, other], contaminated=marks, drop=["exact"], max_pairs=[None, 20])
    assert (counts["contaminated"], counts["capped"]) == (290, 0)
    assert sorted(lines_of(rows, 1)) == list(range(291, 301))


def test_weights_repeat_pairs_in_other_places(tmp_path: Path) -> None:
    selected = numbered(tmp_path, 2000, 300)
    counts, rows = merge(tmp_path, selected, weights=[1, 2.25], max_pairs=[None, 200])
    assert [corpus["kept"] for corpus in counts["corpora"]] == [2000, 200]
    times = Counter(lines_of(rows, 1))
    assert len(times) == 200
    assert set(times.values()) == {2, 3}
    assert 30 < sum(each == 3 for each in times.values()) < 70
    places: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        if row["corpus"] == 1:
            places.setdefault(row["line"], []).append(place)
    apart = [second - first for first, second, *_ in places.values()]
    assert min(apart) < 200
    assert max(apart) > 1000
    # Weights of other corpora leave a corpus where it was.
    assert lines_of(rows, 0) == lines_of(merge(tmp_path, selected)[1], 0)


def test_the_shuffle_mixes_corpora_and_is_seeded(tmp_path: Path) -> None:
    # The capped corpus is spread over the whole file too, because its draw and its place in the order are
    # independent.
    selected = numbered(tmp_path, 1000, 1000)
    _, rows = merge(tmp_path, selected, max_pairs=[500, None])
    positions = [index for index, row in enumerate(rows) if row["corpus"] == 0]
    assert 600 < sum(positions) / len(positions) < 900
    lines = lines_of(rows, 1)
    assert 430 < sum(a < b for a, b in pairwise(lines)) < 570
    other = lines_of(merge(tmp_path, selected, seed=2)[1], 1)
    assert sorted(other) == sorted(lines)
    assert other != lines


def test_bytes_depend_on_neither_threads_nor_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        ({"duplicates": "drop_all"}, "no pair .* of 2: each has a duplicate"),
        ({"contaminated": [(0, "sts", "exact")], "drop": ["exact"]}, "no pair .* of 2: .*in a test set"),
        ({"contaminated": [(0, "held_out", "exact")], "held_out": (0, 9)}, "no pair .* of 2: .*held out"),
    ],
)  # fmt: skip
def test_if_nothing_is_left_one_line_says_why(tmp_path: Path, changes: dict[str, Any], cause: str) -> None:
    path = write(tmp_path / "one", [("a", "b"), ("a", "b")])
    if marks := changes.get("contaminated"):
        changes = changes | {"contaminated": [marked(tmp_path / "marks", marks)]}
    if line := changes.get("held_out"):
        changes = changes | {"held_out": held(tmp_path, line)}
    with pytest.raises(InputError, match=rf"one: {cause}") as caught:
        merge(tmp_path, [path], **changes)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("*.parquet"))
    assert not (tmp_path / "counts.json").exists()


def test_too_little_memory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"merged\.parquet: .*temporary.* Out of Memory") as caught:
        merge(tmp_path, numbered(tmp_path, 100_000), memory_mb=2)
    assert "\n" not in str(caught.value)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_many_corpora_take_no_more_memory_than_one(tmp_path: Path) -> None:
    """Texts that do not fit into the memory are sorted on the disk, in however many files they are."""
    draw = random.Random(4)
    paths = []
    for number in range(14):
        sides = [[draw.randbytes(90).hex() for _ in range(12_000)] for _ in range(2)]
        paths.append(write(tmp_path / f"{number}", list(zip(*sides, strict=True))))
    counts, rows = merge(tmp_path, paths, memory_mb=90)
    assert counts["kept"] == len(rows) == 14 * 12_000


def test_what_an_ended_process_has_left_is_removed_and_other_folders_stay(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    other, leftover = (
        tmp_path / "temporary" / name for name in ("other job", f"pairs-{platform.node()}-{ended.pid}.abc")
    )
    for folder in (other, leftover):
        folder.mkdir(parents=True)
    with pytest.raises(AssertionError, match="other job"):
        merge(tmp_path, numbered(tmp_path, 3))
    assert [*other.parent.iterdir()] == [other]


@pytest.mark.slow("reads all captions of Multi30k")
def test_multi30k_without_duplicates(tmp_path: Path, mirror: Path) -> None:
    """Multi30k has three pairs twice: keeping one copy leaves 28,997 pairs, and keeping none 28,994."""
    folder = mirror / "raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
    sides = [gzip.decompress((folder / f"train.{code}.gz").read_bytes()).decode() for code in ("en", "de")]
    pairs = list(zip(*(side.lower().split("\n")[:-1] for side in sides), strict=True))
    path = write(tmp_path / "multi30k", pairs)
    assert merge(tmp_path, [path])[0]["kept"] == 28_997
    assert merge(tmp_path, [path], duplicates="drop_all")[0]["kept"] == 28_994
