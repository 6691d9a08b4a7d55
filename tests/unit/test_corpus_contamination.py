"""Test how test sentences are found in the training data."""

import csv
import json
import random
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from pair_files import write_pairs
from paraphrastic_pipeline.corpus.corpus_tables import tabulate_contamination

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import blocks, sampling
from paraphrastic_pipeline.corpus.contamination import TestSentences, mark_contamination
from paraphrastic_pipeline.corpus.normal_form import words_of
from paraphrastic_pipeline.corpus.testset_sentences import TestFile, gather_testsets

NEAR = {"ngram": 3, "min_similarity": 0.6}


def sentences(tmp_path: Path, rows: list[tuple[str, str]]) -> Path:
    """Write a table of test sentences from rows of (test set, sentence)."""
    columns = ["testset", "dataset", "language", "sentence", "words"]
    cells = [(testset, f"{testset}-1", None, text, words_of(text)) for testset, text in rows]
    pd.DataFrame(cells, columns=columns).to_parquet(tmp_path / "sentences.parquet")
    return tmp_path / "sentences.parquet"


def selected(tmp_path: Path, pairs: list[tuple[str, str]]) -> Path:
    return write_pairs(tmp_path / "selected.parquet", pairs, range(101, 101 + len(pairs)))


def marked(tmp_path: Path, pairs: Path, near=NEAR, **changes):
    outputs = {"counts": tmp_path / "counts.json", "examples": tmp_path / "examples.tsv"}
    result = mark_contamination(
        pairs,
        tmp_path / "sentences.parquet",
        tmp_path / "out.parquet",
        near_duplicates=near,
        **outputs,
        **{"seed": 1, **changes},
    )
    assert result == json.loads(outputs["counts"].read_text())
    with outputs["examples"].open(encoding="utf-8", newline="") as file:
        examples = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return result, pq.read_table(tmp_path / "out.parquet").to_pylist(), examples


TEST = [
    ("sts", "One two three, four five six seven."),
    ("sts", "Yes."),
    ("tatoeba", "one two three four five six seven"),
    ("tatoeba", "Eins zwei drei vier fünf sechs"),
]
PAIRS = [
    ("ONE-TWO three four five six seven!", "nothing of the kind"),  # exact in both test sets
    ("one two three four five six eight", "nothing of the kind"),  # 4 of 6 trigrams: 0.667
    ("one two three four five nine eight", "nothing of the kind"),  # 3 of 7 trigrams: 0.429
    ("yes", "eins zwei drei vier fünf"),  # exact in one test set; 3 of 4 trigrams in the other
    ("seven six five four three two one", "no"),
    ("one two", "three"),
]


def test_no_test_sets_are_an_empty_table(tmp_path: Path) -> None:
    gather_testsets([], tmp_path / "sentences.parquet", segmentation={}, lowercase=True)
    assert pd.read_parquet(tmp_path / "sentences.parquet").empty
    pairs = selected(tmp_path, [("a b c d", "e f g h")])
    counts, found, _ = marked(tmp_path, pairs)
    assert counts == {"read": 1, "all": {"exact": 0, "near": 0}, "testsets": {}}
    assert found == []


def test_exact_and_near_duplicates_by_hand(tmp_path: Path) -> None:
    sentences(tmp_path, TEST)
    counts, found, examples = marked(tmp_path, selected(tmp_path, PAIRS))
    rows = [
        (r["row"], r["line"], r["testset"], r["kind"], round(r["similarity"], 3), r["side"]) for r in found
    ]
    assert rows == [
        (0, 101, "sts", "exact", 1.0, "source"),
        (0, 101, "tatoeba", "exact", 1.0, "source"),
        (1, 102, "sts", "near", 0.667, "source"),
        (1, 102, "tatoeba", "near", 0.667, "source"),
        (3, 104, "sts", "exact", 1.0, "source"),
        (3, 104, "tatoeba", "near", 0.75, "target"),
    ]
    assert found[5]["sentence"] == "eins zwei drei vier fünf"
    assert found[5]["test_sentence"] == "Eins zwei drei vier fünf sechs"
    assert found[5]["dataset"] == "tatoeba-1"
    assert counts == {
        "read": 6,
        "all": {"exact": 2, "near": 1},
        "testsets": {"sts": {"exact": 2, "near": 1}, "tatoeba": {"exact": 1, "near": 2}},
    }
    assert [(row["testset"], row["kind"], row["line"]) for row in examples] == [
        ("sts", "exact", "101"),
        ("sts", "exact", "104"),
        ("sts", "near", "102"),
        ("tatoeba", "exact", "101"),
        ("tatoeba", "near", "102"),
        ("tatoeba", "near", "104"),
    ]


def test_without_near_duplicates(tmp_path: Path) -> None:
    sentences(tmp_path, TEST)
    counts, found, _ = marked(tmp_path, selected(tmp_path, PAIRS), near=None)
    assert {row["kind"] for row in found} == {"exact"}
    assert counts["all"] == {"exact": 2}


def test_an_exact_side_counts_more_than_equal_ngrams(tmp_path: Path) -> None:
    # "a b a b a" and "a b a b" have the same set of trigrams, and yet the sentences differ.
    sentences(tmp_path, [("sts", "a b a b"), ("sts", "the end")])
    _, found, _ = marked(tmp_path, selected(tmp_path, [("a b a b a", "the end")]))
    assert [(row["kind"], row["side"]) for row in found] == [("exact", "target")]


@pytest.mark.parametrize(
    ("ngram", "min_similarity", "letters"),
    [(1, 0.5, None), (2, 0.3, None), (3, 0.6, None), (3, 1.0, None), (4, 0.01, None), (3, 0.6, 13)],
)
def test_near_duplicates_are_those_of_a_plain_search(
    tmp_path: Path, ngram: int, min_similarity: float, letters: int | None
) -> None:
    generator = random.Random(3)
    # Words of several letters are written together in different ways, and each has a set of its own.
    words, most, sets = (["an", "na", "nan", "a"], 6, 200) if letters else (list("abcdef"), 9, 3)
    draw = [" ".join(generator.choices(words, k=generator.randint(1, most))) for _ in range(500)]
    path = sentences(tmp_path, [(f"set{n % sets}", text) for n, text in enumerate(draw[:200])])
    options = {"ngram": ngram, "min_similarity": min_similarity, "letters": letters}
    index = TestSentences(pq.read_table(path).to_pylist(), **options)

    def ngrams(text: str) -> set[tuple[str, ...]]:
        units = list(text.replace(" ", "")) if letters else text.split()
        return {tuple(units[i : i + ngram]) for i in range(len(units) - ngram + 1)}

    near = 0
    for text in draw[200:]:
        best: dict[str, tuple[bool, float]] = {}
        for number, test in enumerate(draw[:200]):
            one, two = ngrams(text), ngrams(test)
            if letters and len(test.replace(" ", "")) > letters:
                two = set()
            same = test.replace(" ", "") == text.replace(" ", "")
            similarity = 1.0 if same else len(one & two) / len(one | two) if one and two else 0.0
            if similarity >= min_similarity:
                rank = (same, similarity)
                best[f"set{number % sets}"] = max(best.get(f"set{number % sets}", (False, 0.0)), rank)
        assert {name: match[:2] for name, match in index.find(words_of(text)).items()} == best
        near += any(not exact for exact, _ in best.values())
    assert near > 0 or min_similarity == 1.0


@pytest.mark.parametrize("ngram", [1, 3])
def test_a_similarity_of_just_the_threshold_is_found(tmp_path: Path, ngram: int) -> None:
    """Check every threshold in hundredths, since its product with a length may be rounded up or down."""
    words = [f"w{number}" for number in range(102)]
    path = sentences(tmp_path, [("sts", " ".join(words[: n + ngram - 1])) for n in range(1, 100)])
    for hundredths in range(1, 100):
        index = TestSentences(
            pq.read_table(path).to_pylist(), ngram=ngram, min_similarity=float(f"0.{hundredths:02}")
        )
        for n in range(1, 101):
            # The test sentences begin like this one: they share its first 1, 2, … n-grams.
            shared, rest = divmod(hundredths * n, 100)
            if not rest:
                found = {number for number, _ in index._near(words[: n + ngram - 1])}
                assert shared - 1 in found, (shared, n)
                assert shared - 2 not in found, (shared, n)


def test_small_blocks_and_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences(tmp_path, [("sts", f"this is sentence number {n} of them") for n in range(100)])
    pairs = selected(tmp_path, [(f"this is sentence number {n} of them", "") for n in range(50, 150)])
    written = []
    for rows in (7, 65_536):
        monkeypatch.setattr(blocks, "READ_ROWS", rows)
        marked(tmp_path, pairs)
        written.append([(tmp_path / n).read_bytes() for n in ("out.parquet", "counts.json", "examples.tsv")])
    assert written[0] == written[1]
    monkeypatch.setattr(sampling, "EXAMPLES", 5)
    examples = [marked(tmp_path, pairs, seed=seed)[2] for seed in (1, 1, 2)]
    assert len(examples[0]) == 5
    assert examples[0] == examples[1] != examples[2]


def test_damaged_inputs(tmp_path: Path) -> None:
    pairs = selected(tmp_path, PAIRS)
    (tmp_path / "sentences.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"sentences\.parquet: not readable as Parquet"):
        marked(tmp_path, pairs)
    sentences(tmp_path, TEST)
    pairs.write_bytes(pairs.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"selected\.parquet: not readable as Parquet"):
        marked(tmp_path, pairs)
    assert not (tmp_path / "out.parquet").exists()


def test_the_table(tmp_path: Path) -> None:
    both = {"read": 200, "all": {"exact": 3, "near": 4}, "testsets": {"sts": {"exact": 1, "near": 4}}}
    exact = {"read": 8, "all": {"exact": 1}, "testsets": {"sts": {"exact": 1}}}
    for name, counts in (("both", both), ("exact", exact)):
        (tmp_path / name).write_text(json.dumps(counts))
    files, corpora = [tmp_path / "both", tmp_path / "exact"], [("fr", "tanzil"), ("tr", "tanzil")]
    tabulate_contamination(files, tmp_path / "table.csv", corpora=corpora, drop=["exact"])
    assert (tmp_path / "table.csv").read_text().splitlines() == [
        "model,corpus,testset,read,exact,near,dropped,share",
        "fr,tanzil,sts,200,1,4,1,2.50",
        "fr,tanzil,all,200,3,4,3,3.50",
        "tr,tanzil,sts,8,1,,1,12.50",
        "tr,tanzil,all,8,1,,1,12.50",
    ]
    tabulate_contamination(files, tmp_path / "table.csv", corpora=corpora, drop=["exact", "near"])
    assert (tmp_path / "table.csv").read_text().splitlines()[1:3] == [
        "fr,tanzil,sts,200,1,4,5,2.50",
        "fr,tanzil,all,200,3,4,7,3.50",
    ]


def test_pairs_from_manythings_stand_in_the_tatoeba_test_sets(tmp_path: Path, mirror: Path) -> None:
    """The Arabic pairs and the Arabic test set both come from Tatoeba. Plain sets give the expected count."""
    folder = mirror / "raw.githubusercontent.com/facebookresearch/LASER/main/data/tatoeba/v1"
    files = [
        TestFile("tatoeba", folder / f"tatoeba.ara-eng.{name}", codes)
        for name, codes in (("ara", ("ar", "en")), ("eng", ("en", "ar")))
    ]
    gather_testsets(files, tmp_path / "sentences.parquet", segmentation={}, lowercase=True)
    with zipfile.ZipFile(mirror / "www.manythings.org/anki/ara-eng.zip") as archive:
        lines = archive.read("ara.txt").decode().splitlines()
    pairs = [(line.split("\t")[0], line.split("\t")[1]) for line in lines]
    counts, _, _ = marked(tmp_path, selected(tmp_path, pairs))
    test = {"".join(words_of(line)) for file in files for line in file.path.read_text().splitlines()}
    plain = sum(any("".join(words_of(side)) in test for side in pair) for pair in pairs)
    assert counts["testsets"]["tatoeba"]["exact"] == plain > 400
    assert counts["testsets"]["tatoeba"]["near"] > 20


def test_of_equally_similar_sentences_the_first_is_found(tmp_path: Path) -> None:
    """The result must not depend on the order of n-grams in a set, which differs between processes."""
    for case in range(30):
        words = [f"w{case}x{number}" for number in range(12)]
        other = [("en", " ".join(f"o{case}x{i}x{j}" for j in range(9))) for i in range(7)]
        alike = [("en", " ".join([*words[:9], "here"])), ("en", " ".join(["there", *words[3:]]))]
        path = sentences(tmp_path, [alike[0], *other, alike[1]])
        index = TestSentences(pq.read_table(path).to_pylist(), ngram=3, min_similarity=0.4)
        (match,) = index.find(words).values()
        assert match.number == 0


def test_of_equal_sentences_the_first_is_found_and_the_source_counts(tmp_path: Path) -> None:
    sentences(tmp_path, [("sts", "the end"), ("sts", "a b c d"), ("sts", "A, b, c, d!")])
    _, found, _ = marked(tmp_path, selected(tmp_path, [("a-b-c-d", "a b c d"), ("x", "the end")]))
    assert [(row["side"], row["test_sentence"]) for row in found] == [
        ("source", "a b c d"),
        ("target", "the end"),
    ]


@pytest.mark.parametrize("near", [NEAR, None])
def test_held_out_sentences_are_marked_near_and_exact_but_not_counted(tmp_path: Path, near) -> None:
    sentences(tmp_path, TEST)
    without = marked(tmp_path, selected(tmp_path, PAIRS), near)
    held_out = [("Seven six five four three two one.", "NO"), ("She was tired again.", "one two")]
    held = write_pairs(tmp_path / "held_out.parquet", held_out)
    pairs = [*PAIRS, ("x", "She was tired against?"), ("x", "She has time.")]
    result, rows, examples = marked(tmp_path, selected(tmp_path, pairs), near, held_out=held)
    found = {(row["row"], row["kind"]) for row in rows if row["testset"] == "held_out"}
    assert found == {(4, "exact"), (5, "exact"), (6, "near")}
    # The test sets are not affected.
    assert [row for row in rows if row["testset"] != "held_out"] == without[1]
    assert {**result, "read": len(PAIRS)} == without[0]
    assert examples == without[2]
