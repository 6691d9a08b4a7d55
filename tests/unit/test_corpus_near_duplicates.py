"""Test the near duplicates that MinHash finds, against a comparison of all pairs."""

import gzip
from itertools import combinations

import duckdb
import numpy as np
import pytest
from test_corpus_merge import merge, places, write

from paraphrastic_pipeline.corpus.near_duplicates import _propose, pair_ngrams, rows_per_band

BIGRAMS = {"ngram": 2, "min_similarity": 0.6}


def grams_of(pair, ngram):
    """Return the word n-grams of both sides, computed independently of the library."""
    both = set()
    for side, text in enumerate(pair):
        words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
        spans = [tuple(words[i : i + ngram]) for i in range(len(words) - ngram + 1)] or [tuple(words)]
        both |= {(side, span) for span in spans}
    return both


@pytest.fixture
def five(tmp_path):
    """Two corpora in which the second and fourth pairs are near the first; the fifth pair is not."""
    one = write(
        tmp_path / "one",
        [
            ("a man rides a brown horse on the beach", "ein mann reitet ein pferd am strand"),
            ("A man rides a brown horse on the beach.", "ein mann reitet ein pferd am Strand"),
            ("two dogs", "zwei hunde"),
        ],
    )
    other = write(
        tmp_path / "other",
        [
            ("a man rides a brown horse on the beach", "ein mann reitet ein braunes pferd am strand"),
            ("a man rides a brown horse on the beach", "mehrere leute sitzen um einen tisch herum"),
        ],
    )
    return [one, other]


def test_the_first_of_near_duplicates_is_kept(tmp_path, five):
    counts, rows = merge(tmp_path, five, near_duplicates=BIGRAMS)
    assert places(rows) == [(0, 1), (0, 3), (1, 2)]
    assert [corpus["near_duplicates"] for corpus in counts["corpora"]] == [1, 1]
    assert counts["duplicates"] == 0
    _, rows = merge(tmp_path, five[::-1], near_duplicates=BIGRAMS)
    assert places(rows) == [(0, 1), (0, 2), (1, 3)]


def test_at_similarity_one_only_the_way_of_writing_may_differ(tmp_path, five):
    _, rows = merge(tmp_path, five, near_duplicates={"ngram": 1, "min_similarity": 1.0})
    assert places(rows) == [(0, 1), (0, 3), (1, 1), (1, 2)]


def test_sides_are_not_mixed_up(tmp_path):
    path = write(
        tmp_path / "one", [("red wine", "white wine"), ("white wine", "red wine"), ("", ""), ("a", "")]
    )
    _, rows = merge(tmp_path, [path], near_duplicates={"ngram": 1, "min_similarity": 0.9})
    assert len(rows) == 4


def test_sentences_shorter_than_an_ngram_are_compared_as_a_whole():
    assert pair_ngrams("Two dogs.", "zwei rote Hunde hier", 3) == {
        "<two dogs", ">zwei rote hunde", ">rote hunde hier"
    }  # fmt: skip


def test_a_bucket_of_one_sentence_does_not_take_the_square_of_its_size(tmp_path):
    path = write(tmp_path / "one", [("the very same sentence over and over", f"t{n}") for n in range(2000)])
    counts, _ = merge(tmp_path, [path], near_duplicates={"ngram": 1, "min_similarity": 0.7})
    assert counts["kept"] == 1


@pytest.mark.parametrize("slice_rows", [1, 3, 1000])
def test_a_pair_is_compared_with_the_one_before_it_and_the_first_of_a_bucket(monkeypatch, slice_rows):
    """If a bucket holds one and another and one again, either comparison may be the one that tells."""
    monkeypatch.setattr("paraphrastic_pipeline.corpus.near_duplicates._SLICE_ROWS", slice_rows)
    buckets = {-7: [4, 9], -1: [4], 0: [5, 1, 8, 3], 6: [9, 2, 6], 11: []}
    rows = [(place, bucket) for bucket, members in buckets.items() for place in members]
    with duckdb.connect() as database:
        database.execute("CREATE TABLE near_buckets (place BIGINT, bucket BIGINT)")
        database.executemany("INSERT INTO near_buckets VALUES (?, ?)", rows)
        _propose(database)
        found = set(database.execute("SELECT place, earlier FROM near_candidates").fetchall())
    assert found == {(9, 4), (3, 1), (5, 3), (5, 1), (8, 5), (8, 1), (6, 2), (9, 6), (9, 2)}


def test_neither_threads_nor_memory_matter(tmp_path, five, monkeypatch):
    rng = np.random.default_rng(1)
    words = [f"w{n}" for n in range(40)]
    pairs = [(" ".join(rng.choice(words, 6)), " ".join(rng.choice(words, 6))) for _ in range(600)]
    path = write(tmp_path / "many", [pair for pair in pairs for _ in range(2)])
    settings = {"near_duplicates": {"ngram": 1, "min_similarity": 0.4}}
    counts, rows = merge(tmp_path, [path, *five], **settings)
    assert 10 < counts["near_duplicates"] < 590
    monkeypatch.setattr("paraphrastic_pipeline.corpus.near_duplicates._SLICE_ROWS", 5000)
    again, same = merge(tmp_path, [path, *five], **settings, threads=1, memory_mb=80)
    assert (counts, rows) == (again, same)


@pytest.mark.parametrize(("similar", "missed"), [(0.3, 0.05), (0.7, 0.05), (0.95, 0.05)])
def test_bands_find_the_similar_pairs(similar, missed):
    rows = rows_per_band(similar)
    assert (1 - similar**rows) ** (128 // rows) <= missed
    assert (1 - similar ** (rows + 1)) ** (128 // (rows + 1)) > missed


def test_against_comparing_all_captions(tmp_path, mirror):
    """On real sentences, no pair is marked by mistake, and nearly all near duplicates are found."""
    folder = next(mirror.glob("raw.githubusercontent.com/multi30k/dataset/*/data/task2/raw"))
    with gzip.open(folder / "train.1.en.gz", "rt") as one, gzip.open(folder / "train.2.en.gz", "rt") as other:
        pairs = list(dict.fromkeys((a.strip(), b.strip()) for a, b in zip(one, other, strict=True)))[:400]
    # Some of the pairs are added again without one of their words.
    pairs += [(source.replace(" a ", " ", 1), target) for source, target in pairs[:150]]
    grams = [grams_of(pair, 1) for pair in pairs]
    near = {
        j
        for i, j in combinations(range(len(pairs)), 2)
        if len(grams[i] & grams[j]) >= 0.6 * len(grams[i] | grams[j])
    }
    path = write(tmp_path / "captions", pairs, list(range(len(pairs))))
    counts, rows = merge(tmp_path, [path], near_duplicates={"ngram": 1, "min_similarity": 0.6})
    dropped = set(range(len(pairs))) - {row["line"] for row in rows}
    assert counts["near_duplicates"] > 100
    assert dropped <= near
    assert len(dropped) >= 0.95 * len(near)
