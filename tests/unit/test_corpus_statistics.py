"""Test the statistics and the table of the corpora."""

import json
import math
import statistics

import numpy as np
import pyarrow.parquet as pq
import pytest
from pair_files import scored, write_shards

from paraphrastic_pipeline.corpus.statistics import describe_corpus, tabulate_corpora


def measured(pairs, scores=None):
    """Pairs with their numbers of tokens and these scores, or none."""
    sides = {side: [pair[number] for pair in pairs] for number, side in enumerate(("source", "target"))}
    tokens = {f"{side}_tokens": [len(text.split()) for text in texts] for side, texts in sides.items()}
    return scored(**sides, **tokens, paraphrase_score=scores or [None] * len(pairs))


def describe(folder, pairs, *ends, name="corpus", **changes):
    resources = {"memory_mb": 200, "threads": 2, "temporary": folder / "temporary"}
    resources |= {name: changes.pop(name) for name in resources if name in changes}
    settings = {"languages": ("en", "de"), "sentences": 1000, "seed": 1, "resources": resources, **changes}
    outputs = folder / f"{name}.json", folder / f"{name}.parquet"
    result = describe_corpus(write_shards(folder, pairs, ends), *outputs, **settings)
    assert json.loads(outputs[0].read_text()) == json.loads(json.dumps(result))
    return result, [tuple(row.values()) for row in pq.read_table(outputs[1]).to_pylist()]


def test_paraphrases_are_represented_by_their_sources_and_may_lack_scores(tmp_path):
    result, sample = describe(tmp_path, measured([("a b", "x")]), languages=("en", "en"))
    assert result == {"pairs": 1, "paraphrase_score": [None, None], "lengths": {"en": [2, 0]}}
    assert sample == [("a b",)]


def random_pairs(size):
    draw = np.random.default_rng(4)
    texts = [" ".join(draw.choice(list("abcdefgh"), draw.integers(0, 12))) for _ in range(2 * size)]
    scores = [None if draw.random() < 0.2 else float(draw.random()) for _ in range(size)]
    return list(zip(texts[:size], texts[size:], strict=True)), scores


def test_figures_are_those_of_the_standard_library_in_any_shards(tmp_path):
    pairs, scores = random_pairs(700)
    result, sample = describe(tmp_path, measured(pairs, scores), sentences=100)
    for options, same in (({"threads": 1}, True), ({"seed": 2}, False)):
        options = {"sentences": 100, **options}
        assert (describe(tmp_path, measured(pairs, scores), 200, 200, 201, **options)[1] == sample) == same
    values = {code: [len(pair[n].split()) for pair in pairs] for n, code in enumerate(("en", "de"))}
    values["score"] = [score for score in scores if score is not None]
    for name, figures in {**result["lengths"], "score": result["paraphrase_score"]}.items():
        assert figures == pytest.approx([statistics.mean(values[name]), statistics.pstdev(values[name])])
    assert len(sample) == 100
    assert set(sample) <= set(pairs)


def test_the_table_of_the_corpora(tmp_path):
    describe(tmp_path, measured([("a b", "x"), ("a A", "y")], [0.5, 0.75]), name="one")
    describe(tmp_path, measured([("b c d a", "x y")]), name="two")
    describe(tmp_path, measured([("", "")]), name="empty")
    # A second model uses the same corpus; its documents are not counted twice.
    rows = [("de", "one"), ("de", "two"), ("other", "one"), ("none", "empty")]
    merged = []
    for model, kept in (("de", [2, 1]), ("other", [1]), ("none", [0])):
        merged.append(tmp_path / f"{model}.counts.json")
        merged[-1].write_text(json.dumps({"corpora": [{"kept": number} for number in kept]}))
    files = ([tmp_path / f"{corpus}.{kind}" for _, corpus in rows] for kind in ("json", "parquet"))
    tabulate_corpora(*files, merged, tmp_path / "table.csv", corpora=rows, models=["de", "other", "none"])
    # Three of the four English documents contain a, two contain b, and one contains c and d. Two of the four
    # German ones contain x, and two contain y.
    a, b, rare = math.log(4 / 3), math.log(2), math.log(4)
    entropy_of_one = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    one = f"2.00,0.00,{(3 * a + b) / 4:.2f},{(b - a) / 4:.2f},{entropy_of_one:.2f},0.62,0.12"
    german = f"1.00,0.00,{b:.2f},0.00,{math.log(2):.2f},0.62,0.12"
    assert (tmp_path / "table.csv").read_text().splitlines() == [
        "model,corpus,language,pairs,used,length,length_std,idf,idf_std,vocabulary_entropy,"
        "paraphrase_score,paraphrase_score_std",
        f"de,one,en,2,2,{one}",
        f"de,one,de,2,2,{german}",
        f"de,two,en,1,1,4.00,0.00,{(a + b + 2 * rare) / 4:.2f},0.00,{math.log(4):.2f},,",
        f"de,two,de,1,1,2.00,0.00,{b:.2f},0.00,{math.log(2):.2f},,",
        "de,all,en-de,3,3,,,,,,,",
        f"other,one,en,2,1,{one}",
        f"other,one,de,2,1,{german}",
        "other,all,en-de,2,1,,,,,,,",
        "none,empty,en,1,0,0.00,0.00,,,0.00,,",
        "none,empty,de,1,0,0.00,0.00,,,0.00,,",
        "none,all,en-de,1,0,,,,,,,",
    ]
