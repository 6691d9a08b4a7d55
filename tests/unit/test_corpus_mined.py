"""Test which paraphrases are grouped and sampled, and that mining always gives the same result."""

import gzip
import json
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from function_encoder import FunctionEncoder
from paraphrastic_pipeline.corpus.filter_files import FilterFiles

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import blocks, mined_paraphrases, sampling
from paraphrastic_pipeline.corpus.bitext_similarity import SIMILARITY_SCHEMA, measure_similarity
from paraphrastic_pipeline.corpus.mined_paraphrases import sample_paraphrases


def write(path, rows, *, group_rows=None):
    """Write rows `source, target[, similarity]` as `measure_similarity` does; a missing similarity is 1."""
    columns = [
        [row[0] for row in rows],
        [row[1] for row in rows],
        range(1, len(rows) + 1),
        [row[2] if len(row) > 2 else 1.0 for row in rows],
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SIMILARITY_SCHEMA, strict=True)]
    pq.write_table(pa.table(arrays, schema=SIMILARITY_SCHEMA), path, row_group_size=group_rows)
    return path


def sample(tmp_path, measured, output="mined.parquet", **changes):
    settings = {"min_similarity": 0.7, "seed": 1, "memory_mb": 200, "threads": 2, **changes}
    files = FilterFiles(*(tmp_path / name for name in (output, "counts.json", "examples.tsv")))
    result = sample_paraphrases(measured, files, temporary=tmp_path / "temporary", **settings)
    assert result == json.loads(files.counts.read_text())
    assert list((tmp_path / "temporary").iterdir()) == []
    reasons = ("below_similarity", "empty", "repeated", "alone", "sentences")
    assert result["read"] == sum(result[reason] for reason in reasons)
    rows = pq.read_table(files.pairs).to_pylist()
    assert result["pairs"] == len(rows)
    return result, rows


def groups_of(rows):
    """Return the sets of sentences that the pairs connect."""
    groups = []
    for row in rows:
        joined = [group for group in groups if group & {row["source"], row["target"]}]
        groups = [group for group in groups if group not in joined]
        groups.append(set().union({row["source"], row["target"]}, *joined))
    return sorted(map(sorted, groups))


ROWS = [
    ("Ja.", "Yes."),
    ("Nein.", "No."),
    ("ja.", "Sure."),
    ("Ja?", "Really?"),  # a question differs from the statement
    ("JA. ", "yes!"),  # a repetition of the first row
    ("Nein.", "Nope.", 0.69999),
    ("Nein.", "Never.", 0.71),
    ("Danke.", "Thanks."),
    ("Danke.", "thanks"),
    ("Ja.", "...", 0.9),
    ("--", "Dashes.", 0.9),
    ("Nein.", "Not at all."),
]


def test_exact_groups(tmp_path):
    result, rows = sample(tmp_path, [write(tmp_path / "one", ROWS)])
    assert groups_of(rows) == [["Never.", "No.", "Not at all."], ["Sure.", "Yes."]]
    assert result == {
        "read": 12,
        "below_similarity": 1,
        "empty": 2,
        "repeated": 2,
        "alone": 2,
        "groups": 2,
        "sentences": 5,
        "largest_group": 3,
        "alike": 0,
        "pairs": 3,
    }
    firsts = {"Yes.": 1, "Sure.": 1, "No.": 2, "Never.": 2, "Not at all.": 2}
    assert all(row["line"] == firsts[row["source"]] for row in rows)
    assert pq.read_schema(tmp_path / "mined.parquet").names == ["source", "target", "line"]


def test_groups_reach_across_bitexts_and_quoted_paths(tmp_path):
    one = write(tmp_path / "o'ne", [("a", "x"), ("b", "y")])
    other = write(tmp_path / "other", [("c", "z"), ("a", "w")])
    _, rows = sample(tmp_path, [one, other])
    assert groups_of(rows) == [["w", "x"]]
    assert rows[0]["line"] == (1 if rows[0]["source"] == "x" else 2)


@pytest.mark.parametrize("seed", range(8))
def test_every_sentence_occurs_and_hardly_any_twice(tmp_path, seed):
    generator = random.Random(seed)
    rows = [(f"s{generator.randrange(60)}", f"t {generator.randrange(500)}") for _ in range(400)]
    expected = {}
    for source, target in rows:
        expected.setdefault(source, set()).add(target)
    expected = {source: targets for source, targets in expected.items() if len(targets) > 1}
    result, sampled = sample(tmp_path, [write(tmp_path / "one", rows)], seed=seed)
    # A target can stand in several groups. It occurs once per group, and one sentence of each odd group
    # occurs once more.
    occurrences = Counter(row[side] for row in sampled for side in ("source", "target"))
    of_groups = Counter(target for targets in expected.values() for target in targets)
    extra = occurrences - of_groups
    assert not of_groups - occurrences
    assert extra.total() == sum(len(targets) % 2 for targets in expected.values())
    assert result["pairs"] == sum((len(targets) + 1) // 2 for targets in expected.values())
    for row in sampled:
        assert row["source"] != row["target"]
        assert any({row["source"], row["target"]} <= targets for targets in expected.values())


def test_the_draw_is_random_and_seeded(tmp_path):
    path = write(tmp_path / "one", [(f"s{n // 4}", f"t {n}") for n in range(4000)])
    pairs = {
        seed: {(row["source"], row["target"]) for row in sample(tmp_path, [path], seed=seed)[1]}
        for seed in (1, 2)
    }
    assert len(pairs[1]) == len(pairs[2]) == 2000
    # In a group of four, each sentence is paired with each of the others equally often, on either side.
    assert 250 < len(pairs[1] & pairs[2]) < 420
    distances = Counter(abs(int(one[2:]) - int(other[2:])) for one, other in pairs[1])
    assert 560 < distances[2] < 780
    assert 900 < sum(int(one[2:]) < int(other[2:]) for one, other in pairs[1]) < 1100


def test_bytes_depend_on_neither_threads_memory_blocks_nor_shards(tmp_path, monkeypatch):
    rows = [(f"source {n % 3000}", f"target {n} " + "x" * 50, (n % 10) / 10) for n in range(15_000)]
    whole = write(tmp_path / "whole", rows)
    table = pq.read_table(whole)
    parts = [tmp_path / "part1", tmp_path / "part2", tmp_path / "part3"]
    for path, (start, stop) in zip(parts, [(0, 7), (7, 9000), (9000, 15_000)], strict=True):
        pq.write_table(table.slice(start, stop - start), path)
    outputs = []
    for measured, settings in (
        ([whole], {"threads": 1}),
        ([whole], {"threads": 4}),
        ([whole], {"memory_mb": 80}),
        (parts, {}),
    ):
        monkeypatch.setattr(blocks, "READ_ROWS", 6000 if settings else 100)
        sample(tmp_path, measured, **settings)
        outputs.append([(tmp_path / name).read_bytes() for name in ("mined.parquet", "examples.tsv")])
    assert outputs.count(outputs[0]) == len(outputs)


def test_a_huge_group_has_no_more_pairs_than_sentences(tmp_path):
    n = 30_001
    path = write(tmp_path / "one", [("What?", f"t {number}") for number in range(n)], group_rows=8192)
    result, rows = sample(tmp_path, [path], memory_mb=100)
    assert (result["largest_group"], result["pairs"]) == (n, n // 2 + 1)
    assert len({row[side] for row in rows for side in ("source", "target")}) == n


def test_examples(tmp_path, monkeypatch):
    rows = [(f"s{n // 15}", f"t\t{n}", 0.8) for n in range(900)] + [
        ("far\n", f"off {n}", 0.1) for n in range(90)
    ]
    monkeypatch.setattr(sampling, "EXAMPLES", 5)
    monkeypatch.setattr(mined_paraphrases, "EXAMPLES", 5)
    sample(tmp_path, [write(tmp_path / "one", rows)])
    header, *table = [line.split("\t") for line in (tmp_path / "examples.tsv").read_text().splitlines()]
    assert header == ["kind", "group", "sentences", "similarity", "line", "source", "target"]
    shown = [row for row in table if row[0] == "group"]
    assert Counter(row[1] for row in shown) == dict.fromkeys("12345", 10)
    assert {row[2] for row in shown} == {"15"}
    assert len({row[5] for row in shown}) == 5
    assert {row[3] for row in shown} == {"0.8000"}
    below = [row for row in table if row[0] == "below_similarity"]
    assert len(below) == 5
    assert [row[1:4] for row in below] == [["", "", "0.1000"]] * 5
    assert all(int(row[4]) > 900 and row[5] == "far" for row in below)


def test_nothing_to_mine(tmp_path):
    path = write(tmp_path / "one", [("a", "b"), ("a", "B"), ("c", "d"), ("c", "e", 0.1)])
    with pytest.raises(InputError) as caught:
        sample(tmp_path, [path])
    assert str(caught.value) == (
        f"{tmp_path}: no source has two different targets among the 4 pairs read; "
        "below_similarity 1, repeated 1, alone 2"
    )
    assert not (tmp_path / "mined.parquet").exists()
    assert not (tmp_path / "counts.json").exists()


def by_length(calls):
    """Return an encoder whose vectors have an angle equal to the number of letters."""

    def embed(sentences, language):
        calls.append(list(sentences))
        angles = np.array([len(sentence) for sentence in sentences], np.float32)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    return FunctionEncoder("by length", 2, "", embed)


def write_pairs(path, pairs):
    columns = [[one for one, _ in pairs], [other for _, other in pairs], list(range(1, len(pairs) + 1))]
    pq.write_table(pa.table(columns, names=["source", "target", "line"]), path, row_group_size=10)
    return path


def test_similarity_is_the_cosine(tmp_path):
    calls = []
    path = write_pairs(tmp_path / "pairs", [("a", "bb"), ("ccc", "dd"), ("a", "e"), ("a", "bb")])
    measure_similarity(path, tmp_path / "out", encoder=by_length(calls))
    table = pq.read_table(tmp_path / "out")
    assert table.schema == SIMILARITY_SCHEMA
    assert table["similarity"].to_pylist() == pytest.approx([np.cos(1), np.cos(1), 1, np.cos(1)])
    assert table["line"].to_pylist() == [1, 2, 3, 4]
    # Repeated sentences are embedded once.
    assert calls == [["a", "ccc"], ["bb", "dd", "e"]]


def test_similarities_depend_on_neither_blocks_nor_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 10)
    path = write_pairs(tmp_path / "pairs", [("a" * (n % 7), "b" * (n % 5)) for n in range(45)])
    measure_similarity(path, tmp_path / "whole", encoder=by_length([]))
    measure_similarity(path, tmp_path / "blocks", encoder=by_length([]), block_rows=3)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "blocks").read_bytes()
    shards = []
    for number in range(1, 8):
        measure_similarity(path, tmp_path / "shard", encoder=by_length([]), shard=(number, 7))
        shards.append(pq.read_table(tmp_path / "shard"))
    assert pa.concat_tables(shards) == pq.read_table(tmp_path / "whole")


@pytest.mark.slow("reads all captions of Multi30k")
def test_multi30k(tmp_path, mirror):
    """Each image has five English captions and a German one; 28,466 of the 29,000 German ones differ."""
    folder = mirror / "raw.githubusercontent.com/multi30k/dataset/master/data/task2/raw"

    def lines(name):
        return gzip.decompress((folder / name).read_bytes()).decode().split("\n")[:-1]

    sides = [lines(f"train.{annotator}.en.gz") for annotator in range(1, 6)]
    captions = list(zip(lines("train.1.de.gz"), *sides, strict=True))
    path = write(
        tmp_path / "task2", [(german, caption) for german, *english in captions for caption in english]
    )
    result, rows = sample(tmp_path, [path])
    assert {row["source"] for row in rows} | {row["target"] for row in rows} <= {
        caption.strip(mined_paraphrases._MARKS) for _, *english in captions for caption in english
    }
    assert result == {
        "read": 145_000,
        "below_similarity": 0,
        "empty": 0,
        "repeated": 50,
        "alone": 0,
        "groups": 28_466,
        "sentences": 144_950,
        "largest_group": 64,
        "alike": 1,
        "pairs": 86_534,
    }


def test_quotation_marks_and_pairs_that_are_almost_equal_do_not_stay(tmp_path):
    long = " ".join(f"word{number}" for number in range(40))
    rows = [
        ("A.", '"Quoted."'),
        ("A.", "- „Other‟ –"),
        ("B.", long),
        ("B.", f"{long}x"),
        ("C.", "c"),
        ("C.", "d"),
    ]
    result, pairs = sample(tmp_path, [write(tmp_path / "a.parquet", rows)])
    assert groups_of(pairs) == [["Other", "Quoted."], ["c", "d"]]
    assert (result["alike"], result["pairs"]) == (1, 2)


@pytest.mark.parametrize("length", [98, 100, 101, 200])
# The last letters of a and 𐍈𠀋 have more bytes than the others, and differ in nearly all of them.
@pytest.mark.parametrize("letters", ["жшщ", "a𐍈𠀋"])
def test_the_ratio_counts_characters_that_are_added_or_left_out(tmp_path, length, letters):
    # One more letter among n is a ratio of 1 - 1 / (2 n + 1), and one other letter 1 - 2 / (2 n).
    text, (one, other) = letters[0] * (length - 1), letters[1:]
    rows = [("A.", text + one), ("A.", text + other), ("B.", "b"), ("B.", "c")]
    result, _ = sample(tmp_path, [write(tmp_path / "a.parquet", rows)])
    assert result["alike"] == (length > 100)
    assert mined_paraphrases.levenshtein_ratio(text + one, text + other) == pytest.approx(1 - 1 / length)
    assert (mined_paraphrases.levenshtein_ratio(text, text + one) > 0.99) == (2 * length - 1 > 100)


def test_the_ratio_is_that_of_its_definition():
    generator = random.Random(2)

    def longest(one, other):
        table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
        for i, a in enumerate(one):
            for j, b in enumerate(other):
                table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
        return table[-1][-1]

    for _ in range(300):
        one, other = ("".join(generator.choices("abc", k=generator.randint(0, 9))) for _ in range(2))
        total = len(one) + len(other)
        expected = 2 * longest(one, other) / total if total else 1.0
        assert mined_paraphrases.levenshtein_ratio(one, other) == pytest.approx(expected)


def test_a_pair_at_the_threshold_is_not_similar_enough(tmp_path):
    rows = [("A.", "One.", 0.7), ("A.", "Two.", 0.7001), ("A.", "Three.", 0.71)]
    result, pairs = sample(tmp_path, [write(tmp_path / "a.parquet", rows)])
    assert groups_of(pairs) == [["Three.", "Two."]]
    assert result["below_similarity"] == 1
