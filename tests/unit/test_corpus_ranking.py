"""Test the sizes of the parts that ranking makes, which pairs it leaves out, and its random draws."""

import json
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pair_files import marked, write_pairs

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.ranking import rank_pairs


def write(path, scores, pairs=None):
    pairs = pairs or [(f"s{n}", f"{path.name} {n}") for n in range(len(scores))]
    return write_pairs(path, pairs, paraphrase_score=pa.array(scores, pa.float32()))


def rank(tmp_path, candidates, parts=10, name="part", **changes):
    settings = {
        "measure": "paraphrase_score",
        "sample": 1000,
        "contaminated": [],
        "drop": [],
        "seed": 1,
        "memory_mb": 200,
        "threads": 2,
        **changes,
    }
    outputs = [tmp_path / f"{name} {part}.parquet" for part in range(1, parts + 1)]
    summary = tmp_path / "parts.json"
    result = rank_pairs(candidates, outputs, summary=summary, temporary=tmp_path / "temporary", **settings)
    assert result == json.loads(summary.read_text())
    assert list((tmp_path / "temporary").iterdir()) == []
    return result, [pq.read_table(output).to_pylist() for output in outputs]


def lines(rows):
    return [row["line"] for row in rows]


def test_tenths_of_known_scores(tmp_path):
    # The score on line n + 1 has rank 37 n mod 100.
    ranks = [37 * n % 100 for n in range(100)]
    result, parts = rank(tmp_path, [write(tmp_path / "one", [value / 128 for value in ranks])])
    for number, rows in enumerate(parts):
        expected = [n + 1 for n, value in enumerate(ranks) if value // 10 == number]
        assert sorted(lines(rows)) == expected
        assert result["parts"][number] == {
            "part": number + 1,
            "min": 10 * number / 128,
            "max": (10 * number + 9) / 128,
            "pairs": 10,
            "sampled": 10,
        }
    row = parts[0][0]
    assert (row["source"], row["target"], row["corpus"]) == (
        f"s{row['line'] - 1}",
        f"one {row['line'] - 1}",
        0,
    )
    assert pq.read_schema(tmp_path / "part 1.parquet").types == [
        pa.string(), pa.string(), pa.int16(), pa.int64()
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pairs", "sizes"), [(23, [8, 8, 7]), (24, [8, 8, 8]), (25, [9, 8, 8]), (3, [1, 1, 1])]
)
def test_the_first_parts_have_one_more(tmp_path, pairs, sizes):
    result, parts = rank(tmp_path, [write(tmp_path / "one", [n / 32 for n in range(pairs)])], parts=3)
    assert [len(rows) for rows in parts] == sizes
    assert [part["pairs"] for part in result["parts"]] == sizes
    assert sorted(line for rows in parts for line in lines(rows)) == list(range(1, pairs + 1))


def test_what_does_not_count(tmp_path):
    pairs = [("a", "b"), ("c", "d"), ("a", "b"), ("e", "f"), ("g", "h"), ("i", "j"), ("b", "a")]
    one = write(tmp_path / "one", [0.5, 0.25, 0.125, None, 0.75, 1.0, 0.0], pairs)
    other = write(tmp_path / "other", [-1.0, 0.375], [("c", "d"), ("e", "f")])
    marks = [
        marked(tmp_path / "m1", [(4, "sts", "exact"), (5, "sts", "near"), (2, "sts", "near")]),
        marked(tmp_path / "m2", []),
    ]
    result, parts = rank(tmp_path, [one, other], parts=2, contaminated=marks, drop=["exact"])
    counts = {name: result[name] for name in ("read", "unscored", "duplicates", "contaminated", "ranked")}
    # The score of the first copy of a pair counts. If that copy has no score, a later one takes its place.
    assert counts == {"read": 9, "unscored": 1, "duplicates": 2, "contaminated": 1, "ranked": 5}
    places = [sorted((row["corpus"], row["line"]) for row in rows) for rows in parts]
    assert places == [[(0, 2), (0, 7), (1, 2)], [(0, 1), (0, 6)]]
    both, _ = rank(tmp_path, [one, other], parts=2, contaminated=marks, drop=["exact", "near"])
    assert (both["contaminated"], both["ranked"]) == (2, 4)


def test_equal_values_are_ranked_at_random(tmp_path):
    path = write(tmp_path / "one", [0.5] * 1000)
    result, parts = rank(tmp_path, [path], parts=2)
    assert [part["pairs"] for part in result["parts"]] == [500, 500]
    # The order is neither that of the file nor its reverse.
    assert 450 < sum(lines(parts[0])) / 500 < 550
    _, others = rank(tmp_path, [path], parts=2, seed=2)
    assert 180 < len(set(lines(parts[0])) & set(lines(others[0]))) < 320


def test_draws_are_random_seeded_and_shuffled(tmp_path):
    path = write(tmp_path / "one", [n / 4096 for n in range(4000)])
    result, parts = rank(tmp_path, [path], parts=4, sample=200)
    assert [(part["pairs"], part["sampled"]) for part in result["parts"]] == [(1000, 200)] * 4
    for number, rows in enumerate(parts):
        found = lines(rows)
        assert len(set(found)) == len(found) == 200
        assert all(1000 * number < line <= 1000 * (number + 1) for line in found)
        assert 400 < sum(found) / 200 - 1000 * number < 600
        assert 70 < sum(a < b for a, b in pairwise(found)) < 130
    _, others = rank(tmp_path, [path], parts=4, sample=200, seed=2)
    assert len(set(lines(parts[0])) & set(lines(others[0]))) < 80
    # A larger sample of a part contains the smaller one.
    _, more = rank(tmp_path, [path], parts=4, sample=300)
    assert set(lines(parts[0])) < set(lines(more[0]))


def test_a_sample_larger_than_a_part_is_all_of_it(tmp_path):
    path = write(tmp_path / "one", [n / 32 for n in range(11)])
    result, parts = rank(tmp_path, [path], parts=2, sample=6)
    assert [len(rows) for rows in parts] == [6, 5]
    assert [part["sampled"] for part in result["parts"]] == [6, 5]


def test_bytes_depend_on_neither_threads_nor_memory(tmp_path):
    pairs = [(f"source {n % 12_000} " + "x" * 50, "target " * 5) for n in range(30_000)]
    scores = [(n * 7919 % 1000) / 1024 for n in range(12_000)] * 2 + [None] * 6000
    one = write(tmp_path / "one", scores[:20_000], pairs[:20_000])
    other = write(tmp_path / "other", scores[20_000:], pairs[20_000:])
    for name, settings in (("a", {"threads": 1}), ("b", {"threads": 4}), ("c", {"memory_mb": 60})):
        result, _ = rank(tmp_path, [one, other], 3, name, sample=1000, **settings)
        assert result["ranked"] == 12_000
    for part in (1, 2, 3):
        a, b, c = ((tmp_path / f"{name} {part}.parquet").read_bytes() for name in "abc")
        assert a == b == c


def test_a_score_that_no_pair_has(tmp_path):
    path = write(tmp_path / "one", [None, None])
    with pytest.raises(InputError, match=r"one: no pair has a paraphrase score to rank by$"):
        rank(tmp_path, [path])
    assert not (tmp_path / "parts.json").exists()
    assert not (tmp_path / "part 1.parquet").exists()


def test_fewer_pairs_than_parts(tmp_path):
    path = write(tmp_path / "one", [0.1, 0.2, None])
    message = r"one: too few pairs to cut into 10 parts: read 3, unscored 1, duplicates 0, .* ranked 2$"
    with pytest.raises(InputError, match=message):
        rank(tmp_path, [path])


def test_too_little_memory(tmp_path):
    path = write(tmp_path / "one", [n / 2**17 for n in range(100_000)])
    with pytest.raises(InputError, match=r"parts\.json: pairs cannot be ranked, .* Out of Memory"):
        rank(tmp_path, [path], memory_mb=2)
