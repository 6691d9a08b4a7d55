"""Test how test sentences are found in the training data."""

import json
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_files import read_tsv, write_pairs

from paraphrastic_pipeline.corpus import blocks, sampling
from paraphrastic_pipeline.corpus.contamination import SentenceIndex, mark_contamination
from paraphrastic_pipeline.corpus.normal_form import words_of

Pairs = list[tuple[str, str]]


def rows_of(sentences):
    """Rows of test sentences, given as (test set, sentence)."""
    return [
        SimpleNamespace(testset=name, dataset=f"{name}-1", sentence=text, words=words_of(text))
        for name, text in sentences
    ]


def found_in(folder, tests, pairs, **changes):
    """The counts, the rows and the examples of a search."""
    pq.write_table(pa.Table.from_pylist([*map(vars, rows_of(tests))]), folder / "tests.parquet")
    selected = write_pairs(folder / "selected.parquet", pairs, range(101, 101 + len(pairs)))
    paths, outputs = (selected, folder / "tests.parquet", folder / "out.parquet"), ("counts", "examples")
    options = {name: folder / name for name in outputs} | {"seed": 1, **changes}
    result = mark_contamination(*paths, **options)
    assert result == json.loads((folder / "counts").read_text())
    return result, pq.read_table(folder / "out.parquet").to_pylist(), read_tsv(folder / "examples")


TEST = [
    ("sts", "One two three, four five six seven."),
    ("sts", "Yes."),
    ("tatoeba", "one two three four five six seven"),
    ("tatoeba", "Eins zwei drei vier fünf sechs"),
    ("sts", "a b a b a"),
]
PAIRS = [
    ("ONE-TWO three four five six seven!", "nothing of the kind"),  # exact in both test sets
    ("one two three four five six eight", "nothing of the kind"),  # 4 of 6 trigrams: 0.667
    ("one two three four five nine eight", "nothing of the kind"),  # 3 of 7 trigrams: 0.429
    ("yes", "eins zwei drei vier fünf"),  # exact in one test set; 3 of 4 trigrams in the other
    ("seven six five four three two one", "no"),
    ("one two", "three"),
    ("yes", "YES"),  # the source counts
    ("a b a b", "yes"),  # an exact copy counts more than the same trigrams
]


def test_exact_and_near_duplicates_by_hand(tmp_path):
    counts, found, examples = found_in(tmp_path, TEST, PAIRS)
    names = ("row", "line", "testset", "kind", "similarity", "side")
    assert [tuple(row[name] for name in names) for row in found] == [
        (0, 101, "sts", "exact", 1.0, "source"),
        (0, 101, "tatoeba", "exact", 1.0, "source"),
        (1, 102, "sts", "near", pytest.approx(2 / 3), "source"),
        (1, 102, "tatoeba", "near", pytest.approx(2 / 3), "source"),
        (3, 104, "sts", "exact", 1.0, "source"),
        (3, 104, "tatoeba", "near", 0.75, "target"),
        (6, 107, "sts", "exact", 1.0, "source"),
        (7, 108, "sts", "exact", 1.0, "target"),
    ]
    last = ("tatoeba-1", "eins zwei drei vier fünf", "Eins zwei drei vier fünf sechs")
    assert tuple(found[5][name] for name in ("dataset", "sentence", "test_sentence")) == last
    assert counts == {
        "read": 8,
        "all": {"exact": 4, "near": 1},
        "testsets": {"sts": {"exact": 4, "near": 1}, "tatoeba": {"exact": 1, "near": 2}},
    }
    shown = [(row["testset"], row["kind"], row["line"]) for row in examples]
    assert shown == sorted((row["testset"], row["kind"], str(row["line"])) for row in found)
    assert [row["similarity"] for row in examples[-2:]] == ["0.67", "0.75"]


@given(
    st.lists(st.text("abc ", max_size=12), min_size=1, max_size=9),
    st.text("abc ", max_size=12),
    st.integers(1, 3),
    st.sampled_from([0.01, 0.3, 0.5, 0.6, 1.0]),
)
@settings(max_examples=300, deadline=None)
def test_a_search_finds_what_a_quadratic_one_does(tests, text, ngram, min_similarity):
    tests, text = [" ".join(test) for test in tests], " ".join(text)
    rows = rows_of([(f"set{number % 2}", test) for number, test in enumerate(tests)])
    index = SentenceIndex(rows, ngram=ngram, min_similarity=min_similarity)

    def ngrams(sentence):
        words = sentence.split()
        return {tuple(words[place : place + ngram]) for place in range(len(words) - ngram + 1)}

    best = {}
    for number, (row, test) in enumerate(zip(rows, tests, strict=True)):
        same, one, two = test.split() == text.split(), ngrams(text), ngrams(test)
        similarity = 1.0 if same else len(one & two) / len(one | two) if one and two else 0.0
        # The first of several equally similar sentences is found.
        found = (same, similarity, number, 0)
        if similarity >= min_similarity and found[:2] > best.get(row.testset, (False, 0.0))[:2]:
            best[row.testset] = found
    assert index.find(words_of(text)) == best


@pytest.mark.parametrize("hundredths", [7, 29, 56, 58, 60])
def test_a_similarity_of_just_the_threshold_is_found(hundredths):
    """The product of a threshold with a length may be rounded up or down."""
    words = [f"w{number}" for number in range(104)]
    for n in [n for n in range(1, 101) if hundredths * n % 100 == 0]:
        # The test sentence begins like this one: they share its first n-grams.
        rows = rows_of([("a", " ".join(words[: hundredths * n // 100]))])
        index = SentenceIndex(rows, ngram=1, min_similarity=float(f"0.{hundredths:02}"))
        assert index.find(words[:n])
        assert not index.find(words[: n + 1])


def test_neither_blocks_matter_nor_are_examples_the_same_with_another_seed(tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "EXAMPLES", 5)
    sentences = [f"this is sentence number {n} of them" for n in range(150)]
    tests, pairs = [("sts", text) for text in sentences[:100]], [(text, "") for text in sentences[50:]]
    found = []
    for rows, seed in ((7, 1), (65_536, 1), (7, 2)):
        monkeypatch.setattr(blocks, "READ_ROWS", rows)
        found.append(found_in(tmp_path, tests, pairs, seed=seed))
    assert found[0] == found[1]
    assert found[0][:2] == found[2][:2]
    assert found[0][2] != found[2][2]
    assert [row["row"] for row in found[0][1]] == list(range(50))
    assert len(found[0][2]) == 5


def test_held_out_sentences_are_marked_but_not_counted(tmp_path):
    without = found_in(tmp_path, TEST, PAIRS)
    held = [("Seven six five four three two one.", "NO"), ("She was tired again today.", "one two")]
    file = write_pairs(tmp_path / "held_out.parquet", held)
    pairs = [*PAIRS, ("x", "She was tired again?"), ("x", "She has time.")]
    result, rows, examples = found_in(tmp_path, TEST, pairs, held_out=file)
    found = {(row["row"], row["kind"]) for row in rows if row["testset"] == "held_out"}
    assert found == {(4, "exact"), (5, "exact"), (8, "near")}
    # The test sets are not affected.
    assert [row for row in rows if row["testset"] != "held_out"] == without[1]
    assert {**result, "read": len(PAIRS)} == without[0]
    assert examples == without[2]
