"""Test which paraphrases are grouped and sampled, and that mining always gives the same result."""

import json
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from function_encoder import FunctionEncoder
from pair_files import filter_files, read_tsv, write_pairs

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import bitext_similarity, blocks, sampling
from paraphrastic_pipeline.corpus.bitext_similarity import SIMILARITY_SCHEMA, measure_similarity
from paraphrastic_pipeline.corpus.mined_paraphrases import sample_paraphrases


def write(path, rows):
    """Write rows `source, target[, similarity]` as `measure_similarity` does; a missing similarity is 1."""
    similarities = pa.array([row[2] if len(row) > 2 else 1.0 for row in rows], pa.float32())
    return write_pairs(path, [row[:2] for row in rows], similarity=similarities)


def sample(folder, *measured, **changes):
    resources = {"memory_mb": 200, "threads": 2, "temporary": folder / "temporary"}
    resources |= {name: changes.pop(name) for name in resources if name in changes}
    settings = {"min_similarity": 0.7, "seed": 1, **changes}
    files = filter_files(folder)
    result = sample_paraphrases(measured, *files, resources=resources, **settings)
    assert result == json.loads(files.counts.read_text())
    assert list((folder / "temporary").iterdir()) == []
    reasons = ("below_similarity", "empty", "repeated", "alone", "sentences")
    assert result["read"] == sum(result[reason] for reason in reasons)
    table = pq.read_table(files.pairs)
    assert table.schema.names == ["source", "target", "line"]
    assert result["pairs"] == table.num_rows
    return result, table.to_pylist()


def groups_of(rows):
    """The sentences of each line."""
    groups = {}
    for row in rows:
        groups.setdefault(row["line"], set()).update((row["source"], row["target"]))
    return sorted((line, sorted(group)) for line, group in groups.items())


def test_exact_groups(tmp_path):
    rows = [
        ("Ja.", "Yes."),
        ("Nein.", "No."),
        ("ja.", "Sure."),
        ("Ja?", "Really?"),  # a question differs from the statement
        ("JA. ", "yes!"),  # a repetition of the first row
        ("Nein.", "Nope.", 0.7),  # the similarity has to be above the threshold
        ("Nein.", "Never.", 0.7001),
        ("Danke.", "Thanks."),
        ("Danke.", "thanks"),
        ("Ja.", "...", 0.9),
        ("--", "Dashes.", 0.9),
        ("Nein.", "Not at all."),
        ("A.", '"Quoted."'),
        ("A.", "- „Other‟ –"),
    ]
    groups = [(1, ["Sure.", "Yes."]), (2, ["Never.", "No.", "Not at all."]), (13, ["Other", "Quoted."])]
    counts = {"read": 14, "below_similarity": 1, "empty": 2, "repeated": 2, "alone": 2, "groups": 3,
              "sentences": 7, "largest_group": 3, "alike": 0, "pairs": 4}  # fmt: skip
    # A group may reach across bitexts.
    for cut in (14, 3):
        files = [write(tmp_path / f"o'ne{n}", part) for n, part in enumerate((rows[:cut], rows[cut:]))]
        result, pairs = sample(tmp_path, *files)
        assert (result, groups_of(pairs)) == (counts, groups)


@pytest.mark.parametrize("seed", range(5))
def test_every_sentence_occurs_and_hardly_any_twice(tmp_path, seed):
    generator = random.Random(seed)
    rows = [(f"s{generator.randrange(60)}", f"t {generator.randrange(500)}") for _ in range(400)]
    groups = {}
    for source, target in rows:
        groups.setdefault(source, set()).add(target)
    groups = {source: targets for source, targets in groups.items() if len(targets) > 1}
    result, sampled = sample(tmp_path, write(tmp_path / "one", rows), seed=seed)
    # A target can stand in several groups. It occurs once per group, and one sentence of each odd group
    # occurs once more.
    occurrences = Counter(row[side] for row in sampled for side in ("source", "target"))
    of_groups = Counter(target for targets in groups.values() for target in targets)
    assert not of_groups - occurrences
    assert (occurrences - of_groups).total() == sum(len(targets) % 2 for targets in groups.values())
    assert result["pairs"] == sum((len(targets) + 1) // 2 for targets in groups.values())
    for row in sampled:
        assert row["source"] != row["target"]
        assert any({row["source"], row["target"]} <= targets for targets in groups.values())


def test_pairs_depend_on_neither_threads_memory_blocks_nor_shards(tmp_path, monkeypatch):
    rows = [(f"source {n % 3000}", f"target {n} " + "x" * 50, (n % 10) / 10) for n in range(15_000)]
    found = []
    for ends, settings in (((), {"threads": 1}), ((), {"threads": 4, "memory_mb": 80}), ((7, 9000), {})):
        monkeypatch.setattr(blocks, "READ_ROWS", 6000 if ends else 100)
        parts = zip([0, *ends], [*ends, len(rows)], strict=True)
        files = [write(tmp_path / f"part{start}", rows[start:end]) for start, end in parts]
        found.append(sample(tmp_path, *files, **settings))
    assert found[0] == found[1] == found[2]


def test_examples(tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "EXAMPLES", 5)
    alike = [("long", f"{'x' * 200}{n}") for n in range(30)]
    rows = [*((f"s{n // 15}", f"t\t{n}") for n in range(900)), *alike]
    result, _ = sample(
        tmp_path, write(tmp_path / "one", [*rows, *(("far\n", f"off {n}", 0) for n in range(9))])
    )
    assert result["alike"] == 15
    table = read_tsv(tmp_path / "examples.tsv")
    shown = [(row["kind"], row["target"].split()[0][:3]) for row in table]
    assert shown == [("below_similarity", "off")] * 5 + [("alike", "xxx")] * 5 + [("pairs", "t")] * 5


def test_nothing_to_mine(tmp_path):
    path = write(tmp_path / "one", [("a", "b"), ("a", "B"), ("c", "d"), ("c", "e", 0.1)])
    with pytest.raises(InputError, match=r"read 4, below_similarity 1, repeated 1, alone 2") as caught:
        sample(tmp_path, path)
    assert str(caught.value).startswith(f"{tmp_path}: ")
    assert {file.name for file in tmp_path.iterdir()} == {"one", "temporary"}


@pytest.mark.parametrize("length", [98, 100, 101, 200])
def test_pairs_that_are_almost_equal_do_not_stay(tmp_path, length):
    # One other letter among n is a ratio of 1 - 2 / (2 n), however many bytes a letter has.
    text = "a" * (length - 1)
    rows = [("A.", text + "𐍈"), ("A.", text + "𠀋"), ("B.", "b"), ("B.", "c")]
    result, _ = sample(tmp_path, write(tmp_path / "a.parquet", rows))
    assert result["alike"] == (length > 100)


def test_similarity_is_the_cosine_in_any_blocks_and_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 10)
    calls = []

    def embed(sentences, language):
        calls.append(list(sentences))
        angles = np.array([len(sentence) for sentence in sentences], np.float32)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    encoder = FunctionEncoder("by length", 2, "", embed)
    monkeypatch.setattr(bitext_similarity, "open_encoder", lambda *_, **__: encoder)
    pairs = [("a" * (n % 7), "b" * (n % 5)) for n in range(45)]
    write_pairs(tmp_path / "pairs", pairs, row_groups=10)

    def measured(**changes):
        measure_similarity(tmp_path / "pairs", tmp_path / "out", system="by length", **changes)
        return pq.read_table(tmp_path / "out")

    whole = measured()
    # Repeated sentences are embedded once.
    assert calls == [[pair[0] for pair in pairs[:7]], [pair[1] for pair in pairs[:5]]]
    assert whole.schema == SIMILARITY_SCHEMA
    cosines = [np.cos(len(one) - len(other)) for one, other in pairs]
    assert whole["similarity"].to_pylist() == pytest.approx(cosines, abs=1e-5)
    monkeypatch.setattr(bitext_similarity, "EMBEDDED_PAIRS", 3)
    assert measured() == whole
    assert pa.concat_tables(measured(shard=(number, 7)) for number in range(1, 8)) == whole
