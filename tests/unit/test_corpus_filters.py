"""Test what each filter of a selection accepts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_files import scored, settings_of

from paraphrastic_pipeline.corpus.filters import FILTERS, build_filters


def accepted(
    filters: dict[str, Any], languages: tuple[str, str] = ("en", "de"), **columns: list[Any]
) -> list[bool]:
    """What the last filter accepts of pairs that all others accept."""
    *_, last = build_filters(settings_of(filters), languages)
    return last.accept(last.score(scored(**columns))).tolist()


@pytest.mark.parametrize(
    ("count", "bounds", "expected"),
    [
        ("first", (3, 5), [0, 1, 1, 0, 1, 1]),
        ("both", (3, 5), [0, 1, 1, 0, 0, 0]),
        ("mean", (3, 5), [0, 1, 1, 0, 1, 0]),
        ("mean", (3, 6), [0, 1, 1, 1, 1, 1]),
        ("mean", (5, 6), [0, 0, 1, 1, 0, 1]),
    ],
)
def test_lengths(count, bounds, expected):
    counts = {"source_tokens": [2, 3, 5, 6, 3, 5], "target_tokens": [2, 3, 5, 6, 6, 6]}
    length = dict(zip(("min", "max"), bounds, strict=True)) | {"count": count}
    assert accepted({"length": length}, **counts) == list(map(bool, expected))


@pytest.mark.parametrize(
    ("tokens", "characters", "kept"),
    [(100, 0, True), (101, 0, False), (101, 101, True), (200, 200, True), (201, 201, False), (2, 2, False)],
)
def test_two_characters_are_a_word_for_the_longest_sentence(tokens, characters, kept):
    length = {"length": {"min": 3, "max": 100, "count": "both"}}
    for side in ("source", "target"):
        columns = {f"{side}_tokens": [tokens], f"{side}_characters": [characters]}
        assert accepted(length, **columns) == [kept]


NAN = float("nan")


@pytest.mark.parametrize(
    ("rule", "least", "expected"),
    [("probability", 0.1, [1, 1, 1, 1, 0, 0, 0, 1]), ("best", 0.1, [1, 1, 0, 0, 0, 0, 0, 0]),
     ("best", 0.0, [1, 1, 0, 0, 1, 0, 0, 0])],
)  # fmt: skip
def test_languages(rule, least, expected):
    kept = accepted(
        {"language": {"rule": rule, "min_probability": least}},
        ("no", "zh"),
        source_language=["no", "nn", "ja", "no", "no", "no", None, "ja"],
        target_language=["zh", "wuu", "zh", "en", "zh", "zh", "zh", "en"],
        source_probability=[0.1, 0.9, 0.9, 0.9, 0.09, None, NAN, 0.2],
        target_probability=[0.9, 0.1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.3],
    )
    assert kept == list(map(bool, expected))


@pytest.mark.parametrize("name", ["trigram_overlap", "paraphrase_score"])
def test_bounds_are_inclusive_in_the_type_of_the_scores_and_null_fails(name):
    # In float32, 0.7 is slightly less than 0.7 and 0.8 slightly more than 0.8.
    columns = {name: [0.7, 0.8, 0.75, 0.69, 0.81, None, NAN]}
    assert accepted({name: {"min": 0.7, "max": 0.8}}, **columns) == [True] * 3 + [False] * 4
    columns = {"paraphrase_score": [1.0, 1.0000000000000002, 0.4, 0.39999999999]}
    assert accepted({"paraphrase_score": {"min": 0.4, "max": 1.0}}, **columns) == [True, False, True, False]


def test_a_near_copy_has_few_changed_words_and_a_high_overlap():
    bounds = {"max_changed_words": 1, "min_trigram_overlap": 0.65}
    columns = {"changed_words": [0, 1, 1, 2, 1], "trigram_overlap": [1, 2 / 3, 0.64, 0.9, 0.65]}
    assert accepted({"near_copy": bounds}, **columns) == [False, False, True, True, False]


@given(st.lists(st.tuples(*[st.integers(0, 8)] * 2, *[st.sampled_from([0.0, 0.3, 0.4, 0.7, 0.9, None])] * 4)))
@settings(max_examples=100, deadline=None)
def test_all_filters_beside_plain_conditions(rows):
    names = ("source_tokens", "target_tokens", "source_probability", "target_probability",
             "trigram_overlap", "paraphrase_score")  # fmt: skip
    bounds = {
        "length": {"min": 2, "max": 6, "count": "mean"},
        "language": {"rule": "probability", "min_probability": 0.3},
        "trigram_overlap": {"min": 0.0, "max": 0.7},
        "near_copy": None,
        "paraphrase_score": {"min": 0.4, "max": 1.0},
    }
    pairs = scored(**dict(zip(names, zip(*rows, strict=True), strict=True))) if rows else scored(source=[])
    filters = build_filters(settings_of(bounds), ("en", "en"))
    assert [one.name for one in filters] == [
        "empty", *(one.name for one in FILTERS if bounds.get(one.name))
    ]  # fmt: skip
    found = np.stack([one.accept(one.score(pairs)) for one in filters], axis=1).tolist()
    assert found == [
        [
            one > 0 and other > 0,
            2 <= (one + other) / 2 <= 6,
            min(-1 if p is None else p for p in (source, target)) >= 0.3,
            overlap is not None and overlap <= 0.7,
            score is not None and score >= 0.4,
        ]
        for one, other, source, target, overlap, score in rows
    ]
