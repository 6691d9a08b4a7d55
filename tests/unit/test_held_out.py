"""Test which pairs are held out of the training data."""

import pyarrow.parquet as pq
import pytest
from pair_files import write_pairs

from paraphrastic_pipeline.corpus.held_out import hold_out_pairs
from paraphrastic_pipeline.corpus.normal_form import words_of


def held_out(folder, *corpora, number=1000, share=0.05, seed=1, texts=()):
    files = [
        write_pairs(folder / f"{number}.parquet", [row[:2] for row in rows], [row[2] for row in rows])
        for number, rows in enumerate(corpora)
    ]
    output, table, sentences = (folder / f"held_out.{ending}" for ending in ("parquet", "tsv", "txt"))
    options = {"number": number, "share": share, "texts": texts, "seed": seed}
    names = [(f"c{number}", ("en", "de")) for number in range(len(files))]
    resources = {"memory_mb": 200, "threads": 1, "temporary": folder / "temporary"}
    count = hold_out_pairs(
        files, output, table=table, sentences=sentences, corpora=names, resources=resources, **options
    )
    rows = pq.read_table(output).to_pylist()
    assert len(rows) == count
    for row in rows:
        about = (row["name"], row["source_language"], row["target_language"])
        assert about == (f"c{row['corpus']}", "en", "de")
        assert (row["source"], row["target"], row["line"]) in corpora[row["corpus"]]
    lines = table.read_text("utf-8").splitlines()
    assert lines == [f"{row['source']}\t{row['target']}" for row in rows]
    assert sentences.read_text("utf-8").splitlines() == [row["target"] for row in rows]
    return rows


def plain(number, name="a"):
    return [(f"source {name} {line}", f"target {name} {line}", line) for line in range(1, number + 1)]


def test_the_choice_is_random_over_all_corpora_and_follows_the_seed_alone(tmp_path):
    corpora = [plain(3000), plain(500, "text"), plain(1000, "b")]
    first = held_out(tmp_path, *corpora, number=200, texts=[1])
    assert held_out(tmp_path, *corpora, number=200, texts=[1]) == first
    assert held_out(tmp_path, *corpora, number=200, texts=[1], seed=2) != first
    # A text without pairs gives none.
    numbers = [row["corpus"] for row in first]
    assert set(numbers) == {0, 2}
    assert 120 < numbers.count(0) < 180
    assert 1200 < sum(row["line"] for row in first if row["corpus"] == 0) / numbers.count(0) < 1800


@pytest.mark.parametrize(
    ("lines", "expected"),
    [(40_000, 1000), (2000, 100), (100, 10), (36, 9), (4, 1), (3, 0)],
)
def test_a_small_corpus_gives_a_share(tmp_path, lines, expected):
    assert len(held_out(tmp_path, plain(lines))) == expected


def test_no_sentence_is_in_two_pairs_however_it_is_written(tmp_path):
    rows = [(f"Source {line // 2}" + "!" * (line % 2), f"target {line}", line) for line in range(400)]
    found = held_out(tmp_path, rows, share=0.5)
    forms = ["".join(words_of(row[side])) for row in found for side in ("source", "target")]
    assert len(forms) == len(set(forms)) == 400


def test_a_line_gives_one_pair_and_is_not_chosen_more_often_for_having_many(tmp_path):
    rows = [(f"source {n}", f"target {n}", min(n, 500)) for n in range(1000)]
    found = held_out(tmp_path, rows, share=0.2)
    assert len(found) == len({row["line"] for row in found}) == 100
    chosen = [held_out(tmp_path, rows[490:], share=0.25, seed=seed) for seed in range(12)]
    assert sum(row["line"] == 500 for each in chosen for row in each) < 8


@pytest.mark.parametrize(("lines", "stays"), [(5, False), (6, True)])
def test_sentences_of_many_lines_stay(tmp_path, lines, stays):
    often = [("Thank you.", f"Danke {line}.", line) for line in range(1, lines + 1)]
    # A sentence may be in many pairs of one line.
    often += [("Thank you.", f"Merci {number}.", 1) for number in range(10)]
    found = held_out(tmp_path, [*often, ("x", "y", 100), ("v", "w", 101), ("t", "u", 102)], share=0.5)
    assert any(row["source"] == "Thank you." for row in found) != stays
    assert found


@pytest.mark.parametrize(
    ("rows", "fewest"),
    [
        # Captions in both directions, twenty targets of each source, a hundred answers, and a single source.
        ([(f"s{n}", f"t{n}", n) for n in range(500)] + [(f"t{n}", f"s{n}", 500 + n) for n in range(500)], 50),
        ([(f"source {n // 20}", f"target {n}", n) for n in range(2000)], 25),
        ([(f"question {n}", f"answer {n % 100}", n) for n in range(2000)], 25),
        ([("source", f"target {n}", n) for n in range(200)], 0),
    ],
)
def test_pairs_are_held_out_where_sentences_recur(tmp_path, caplog, rows, fewest):
    found = held_out(tmp_path, rows, share=0.05)
    wanted = len(rows) // 20
    assert len(found) == min(wanted, fewest)
    assert bool(caplog.messages) is (len(found) < wanted)


def test_sides_without_words_and_equal_sides_are_not_held_out(tmp_path, caplog):
    rows = [("…", "target", 1), ("Same.", "same", 2), ("good", "fine", 3), ("well", "okay", 4)]
    for seed in range(5):
        assert {row["line"] for row in held_out(tmp_path, rows, share=0.5, seed=seed)} <= {3, 4}
    assert caplog.messages == []
    # With nothing to hold out, the model is trained all the same.
    assert held_out(tmp_path, [("Same.", "same", line) for line in range(4)], share=0.5) == []
    assert "4 lines" in caplog.text
