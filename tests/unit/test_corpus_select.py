"""Test the thresholds, reasons and counts of the selection, and its sample of dropped pairs."""

import json
from collections import Counter
from hashlib import md5

import numpy as np
import pyarrow.parquet as pq
import pytest
from pair_files import PAPER, filter_files, read_tsv, scored, selection_of, write_shards

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import blocks, sampling
from paraphrastic_pipeline.corpus.select import select_pairs


def select(folder, pairs, filters, *, ends=(), **changes):
    """The counts, the pairs and the dropped ones of a selection from shards."""
    files = filter_files(folder)
    options = {"languages": ("en", "en"), "preparation": {"lowercase": False}, "seed": 1, **changes}
    selection = selection_of(filters)
    counts = select_pairs(write_shards(folder, pairs, ends), *files, selection=selection, **options)
    assert counts == json.loads(files.counts.read_text())
    return counts, pq.read_table(files.pairs).to_pylist(), read_tsv(files.examples)


def test_reasons_counts_and_examples(tmp_path, caplog):
    pairs = scored(
        source=["  Kept\u2028ONE ", "", "b", "c", "tab\tbed", "e"],
        source_tokens=[10, 0, 60, 60, 10, 10],
        target_tokens=[10, 3, 60, 60, 10, 10],
        source_language=["en", "en", "de", "de", "de", "en"],
        trigram_overlap=[0.7, 0, 0.9, 0, 0.9, 0.1],
        paraphrase_score=[0.4, 0.1, 0.1, 0.8, None, 0.3],
        line=[11, 12, 13, 14, 15, 16],
    )
    counts, kept, dropped = select(tmp_path, pairs, PAPER)
    reasons = {"empty": 1, "length": 2, "language": 1, "trigram_overlap": 0, "paraphrase_score": 1}
    assert counts == {"read": 6, "kept": 1, "dropped": reasons}
    assert kept == [{"source": "Kept ONE", "target": "target 0", "line": 11}]
    of_lines = {12: "empty", 13: "length", 14: "length", 15: "language", 16: "paraphrase_score"}
    assert {int(row["line"]): row["reason"] for row in dropped} == of_lines
    shown = dropped[3]
    assert (shown["source"], shown["trigram_overlap"]) == ("tab bed", "0.9000")
    assert shown["paraphrase_score"] == ""
    (message,) = caplog.messages
    assert "83%" in message


@pytest.mark.parametrize("filters", [PAPER, {"rank": {"by": "paraphrase_score", "min": 0.3, "max": 0.8}}])
def test_neither_blocks_nor_shards_matter_and_examples_are_seeded(tmp_path, monkeypatch, filters):
    monkeypatch.setattr(sampling, "EXAMPLES", 7)
    draw = np.random.default_rng(2)
    scores = [None if draw.random() < 0.1 else float(n) / 40 for n in draw.integers(0, 40, 500)]
    pairs = scored(source_tokens=draw.integers(0, 60, 500).tolist(), paraphrase_score=scores)
    found, written = [], []
    for rows, ends, seed in ((3, (), 1), (65_536, (200, 200, 201), 1), (65_536, (), 2)):
        monkeypatch.setattr(blocks, "READ_ROWS", rows)
        found.append(select(tmp_path, pairs, filters, ends=ends, seed=seed))
        written.append((tmp_path / "out.parquet").read_bytes())
    assert found[0] == found[1]
    assert written[0] == written[1]
    assert found[1][2] != found[2][2]
    assert written[1] == written[2]
    counts, kept, dropped = found[0]
    assert [row["line"] for row in kept] == sorted(row["line"] for row in kept)
    shown = Counter(row["reason"] for row in dropped)
    assert shown == {reason: min(number, 7) for reason, number in counts["dropped"].items() if number}


@pytest.mark.parametrize(
    ("columns", "languages", "causes"),
    [
        ({"source": []}, ("en", "en"), "empty: no pairs"),
        ({"source_tokens": [0, 60, 60], "target_tokens": [5, 60, 60]}, ("en", "en"),
         "of 3 .*empty 1, length 2.*selection.paraphrase.length"),
        ({"paraphrase_score": [0.3]}, ("en", "en"), "of 1 .*selection.paraphrase.paraphrase_score"),
        ({"target_probability": [0.0, 0.05]}, ("en", "zh"), "of 2 .*language 2.*selection.bitext.language"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ends", [(), (0,)])
def test_if_nothing_is_left_one_line_says_why(tmp_path, columns, languages, causes, ends):
    place = tmp_path.name if ends else r"shard0\.parquet"
    with pytest.raises(InputError, match=f"{place}: .*{causes}") as caught:
        select(tmp_path, scored(**columns), PAPER, languages=languages, ends=ends)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize(
    ("kept", "read", "fails"),
    [(49, 60, True), (50, 60, False), (30, 40, False), (50, 1001, True), (51, 1001, False)],
)
def test_next_to_nothing_stops_the_run_unless_it_is_allowed(tmp_path, kept, read, fails):
    tokens = [10] * kept + [60] * (read - kept)
    pairs = scored(source_tokens=tokens, target_tokens=tokens)
    if fails:
        with pytest.raises(InputError, match=rf"{kept} of {read} .*length {read - kept}; .*allow_few"):
            select(tmp_path, pairs, PAPER)
    assert select(tmp_path, pairs, PAPER, allow_few=fails)[0]["kept"] == kept


@pytest.mark.parametrize("labels", [["fr", "en", "fr"], ["fr", "de", "en"]])
def test_swapped_columns_are_told_from_other_languages(tmp_path, labels):
    pairs = scored(
        source_language=labels,
        target_language=["en"] * 3,
        source_probability=[0.0] * 3,
        target_probability=[0.0] * 3,
    )
    with pytest.raises(InputError) as caught:
        select(tmp_path, pairs, PAPER, languages=("en", "fr"))
    assert ("`languages: [fr, en]`" in str(caught.value)) is (labels.count("fr") == 2)


def ranked(folder, scores, low, high, seed=1, **columns):
    rank = {"rank": {"by": "paraphrase_score", "min": low, "max": high}}
    pairs = scored(paraphrase_score=scores, **columns)
    return [row["line"] for row in select(folder, pairs, rank, seed=seed)[1]]


SCORES = [0.5, 0.95, 0.3, 0.6, 0.9, 0.7, -0.2, 0.2, 0.4, 0.1]
# Pairs without a score have no rank.
SOME = [None, 0.1, 0.2, float("nan"), 0.3, 0.4]


@pytest.mark.parametrize(
    ("scores", "low", "high", "lines"),
    [
        (SCORES, 0.8, 1, [2, 5]),
        (SCORES, 0, 0.1, [7]),
        (SCORES, 0.3, 0.5, [3, 9]),
        (SOME, 0.5, 1, [5, 6]),
        (SOME, 0, 1, [2, 3, 5, 6]),
        ([0.1, 0.2, 0.3], 0.3, 0.7, [2, 3]),
    ],
)
def test_a_range_of_a_ranking(tmp_path, scores, low, high, lines):
    assert ranked(tmp_path, scores, low, high) == lines
    # The ranking has the pairs that other filters drop, too.
    tokens = [10 * (number % 2) for number in range(len(scores))]
    kept = [line for line in lines if line % 2 == 0]
    assert not kept or ranked(tmp_path, scores, low, high, source_tokens=tokens) == kept


def test_equal_scores_are_in_a_range_together(tmp_path):
    scores = [0.1] * 40 + [0.5] * 60
    assert ranked(tmp_path, scores, 0.2, 0.7) == list(range(1, 41))
    assert ranked(tmp_path, scores, 0.4, 1) == list(range(41, 101))
    for of_none, cause in ((scores, "rank 100"), ([], "empty"), ([None], "selection.paraphrase.rank")):
        with pytest.raises(InputError, match=cause):
            ranked(tmp_path, of_none, 0.5, 0.5)


def test_text_is_prepared_by_the_models_settings_whatever_its_language_and_raw_is_as_it_was(tmp_path):
    """A model of Turkish and Chinese folds and segments in use, too, in whatever pair a sentence is."""
    preparation = {"lowercase": True, "segmentation": {"zh": "full"}, "folding": {"tr": "dotted"}}
    sides = {"source": ["A  b", "a b", "A  b", "İ x"], "target": ["我们 都认识他"] * 3 + ["我们都认识他"]}
    options = {"languages": ("en", "zh"), "preparation": preparation, "raw": True}
    _, rows, _ = select(tmp_path, scored(**sides), {}, **options)
    assert [row["source"] for row in rows] == ["a b", "a b", "a b", "i x"]
    assert {row["target"] for row in rows} == {"我们 都 认识 他"}
    lines = map("\t".join, zip(*sides.values(), strict=True))
    assert [row["raw"] for row in rows] == [md5(line.encode()).digest() for line in lines]
