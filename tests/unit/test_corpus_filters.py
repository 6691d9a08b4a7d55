"""Test what each filter of a selection accepts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_files import scored, settings_of

from paraphrastic_pipeline.corpus.filters import build_filters

NAN = float("nan")


def accepted(filters, languages=("en", "de"), **columns):
    """The numbers of the pairs that the last filter accepts."""
    *_, last = build_filters(settings_of(filters), languages)
    return np.flatnonzero(last.accept(last.score(scored(**columns)))).tolist()


@pytest.mark.parametrize(
    ("count", "expected"), [("first", [1, 2, 4, 5]), ("both", [1, 2]), ("mean", [1, 2, 4])]
)
def test_lengths(count, expected):
    counts = {"source_tokens": [2, 3, 5, 6, 3, 5], "target_tokens": [2, 3, 5, 6, 6, 6]}
    assert accepted({"length": {"min": 3, "max": 5, "count": count}}, **counts) == expected


def test_two_characters_are_a_word_for_the_longest_sentence():
    counts = {"target_tokens": [100, 101, 101, 200, 201, 2], "target_characters": [0, 0, 101, 200, 201, 2]}
    assert accepted({"length": {"min": 3, "max": 100, "count": "both"}}, **counts) == [0, 2, 3]


@pytest.mark.parametrize(
    ("rule", "least", "expected"),
    [("probability", 0.1, [0, 1, 2, 3, 7]), ("best", 0.1, [0, 1]), ("best", 0.0, [0, 1, 4])],
)
def test_languages(rule, least, expected):
    kept = accepted(
        {"language": {"rule": rule, "min_probability": least}},
        ("no", "zh"),
        source_language=["no", "nn", "ja", "no", "no", "no", None, "ja"],
        target_language=["zh", "wuu", "zh", "en", "zh", "zh", "zh", "en"],
        source_probability=[0.1, 0.9, 0.9, 0.9, 0.09, None, NAN, 0.2],
        target_probability=[0.9, 0.1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.3],
    )
    assert kept == expected


@pytest.mark.parametrize("name", ["trigram_overlap", "paraphrase_score"])
def test_bounds_are_inclusive_in_the_type_of_the_scores(name):
    # In float32, 0.7 is slightly less than 0.7 and 0.8 slightly more than 0.8.
    scores = [0.7, 0.8, 0.75, 0.69, 0.81, None, NAN, 0.8 + 1e-12]
    kept = accepted({name: {"min": 0.7, "max": 0.8}}, **{name: scores})
    # A pair that the corpus gives no score is kept.
    assert kept == [0, 1, 2, *([7] if name == "trigram_overlap" else [5, 6])]


def test_a_near_copy_has_few_changed_words_and_a_high_overlap():
    bounds = {"max_changed_words": 1, "min_trigram_overlap": 0.65}
    columns = {"changed_words": [0, 1, 1, 2, 1], "trigram_overlap": [1, 2 / 3, 0.64, 0.9, 0.65]}
    assert accepted({"near_copy": bounds}, **columns) == [2, 3]


@given(st.lists(st.tuples(*[st.integers(0, 8)] * 2, *[st.sampled_from([0.0, 0.3, 0.4, 0.7, 0.9, None])] * 4)))
@settings(max_examples=100, deadline=None)
def test_all_filters_beside_plain_conditions(rows):
    names = ("source_tokens", "target_tokens", "source_probability", "target_probability")
    names += ("trigram_overlap", "paraphrase_score")
    bounds = {
        "length": {"min": 2, "max": 6, "count": "mean"},
        "language": {"rule": "probability", "min_probability": 0.3},
        "trigram_overlap": {"min": 0.0, "max": 0.7},
        "near_copy": None,
        "paraphrase_score": {"min": 0.4, "max": 1.0},
    }
    pairs = scored(**dict(zip(names, zip(*rows, strict=True), strict=True))) if rows else scored(source=[])
    filters = build_filters(settings_of(bounds), ("en", "en"))
    assert [one.name for one in filters] == ["empty", *(name for name in bounds if bounds[name])]
    assert np.stack([one.accept(one.score(pairs)) for one in filters], axis=1).tolist() == [
        [
            one > 0 and other > 0,
            2 <= (one + other) / 2 <= 6,
            min(-1 if p is None else p for p in (source, target)) >= 0.3,
            overlap is not None and overlap <= 0.7,
            score is None or score >= 0.4,
        ]
        for one, other, source, target, overlap, score in rows
    ]
