"""Test what each filter of a selection accepts."""

import pytest
from scored_corpus import PAPER, block

from paraphrastic_pipeline.corpus.filters import build_filters


def accepted(settings, pairs, languages=("en", "en")) -> list[bool]:
    *_, last = build_filters(settings, languages)
    return last.accept(last.score(pairs)).tolist()


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        ("first", [False, True, True, False, True, True]),
        ("both", [False, True, True, False, False, False]),
        ("mean", [False, True, True, False, True, False]),
    ],
)
def test_length(count, expected):
    pairs = block(source_tokens=[2, 3, 5, 6, 3, 5], target_tokens=[2, 3, 5, 6, 6, 6])
    assert accepted({"length": {"min": 3, "max": 5, "count": count}}, pairs) == expected


def test_length_by_mean_takes_halves():
    pairs = block(source_tokens=[4, 5, 40, 40], target_tokens=[5, 5, 41, 40])
    assert accepted({"length": PAPER["length"]}, pairs) == [False, True, False, True]


@pytest.mark.parametrize(
    ("tokens", "characters", "kept"),
    [(100, 0, True), (101, 0, False), (101, 101, True), (200, 200, True), (201, 201, False), (2, 2, False)],
)
def test_two_characters_are_a_word_for_the_longest_sentence(tokens, characters, kept):
    pairs = block(target_tokens=[tokens], target_characters=[characters])
    assert accepted({"length": {"min": 3, "max": 100, "count": "both"}}, pairs) == [kept]


def test_language():
    pairs = block(
        source_probability=[0.1, 0.9, 0.09, 0.9, None, 0.9],
        target_probability=[0.9, 0.1, 0.9, 0.0, 0.9, None],
        source_language=["fr", "en", "fr", "en", None, "en"],
        target_language=["de"] * 6,
    )
    rule = {"language": {"rule": "probability", "min_probability": 0.1}}
    assert accepted(rule, pairs, ("en", "de")) == [True, True] + [False] * 4


def test_the_language_must_be_the_best_guess():
    pairs = block(
        source_language=["en", "en", "de", "en", None, "en"],
        target_language=["de", "en", "de", "de", "de", "de"],
        source_probability=[0.5, 0.9, 0.9, 0.49, None, 0.9],
        target_probability=[0.9, 0.9, 0.9, 0.9, 0.9, 0.0],
    )
    half, none = ({"language": {"rule": "best", "min_probability": least}} for least in (0.5, 0.0))
    assert accepted(half, pairs, ("en", "de")) == [True] + [False] * 5
    assert accepted(none, pairs, ("en", "de")) == [True, False, False, True, False, True]


def test_labels_of_the_same_language_are_the_best_guess():
    pairs = block(source_language=["zh", "wuu", "ja"], target_language=["no", "nn", "no"])
    rule = {"language": {"rule": "best", "min_probability": 0.0}}
    assert accepted(rule, pairs, ("zh", "no")) == [True, True, False]


@pytest.mark.parametrize("name", ["trigram_overlap", "paraphrase_score"])
def test_bounds_are_included_and_null_fails(name):
    # Scores are stored in float32, where 0.7 is slightly less than 0.7 and 0.8 slightly more than 0.8.
    pairs = block(**{name: [0.7, 0.8, 0.75, 0.69, 0.81, None, float("nan")]})
    assert accepted({name: {"min": 0.7, "max": 0.8}}, pairs) == [True] * 3 + [False] * 4


def test_bounds_are_compared_with_scores_as_the_corpus_writes_them():
    scores = block(paraphrase_score=[1.0, 1.0000000000000002, 0.4, 0.39999999999])
    assert accepted({"paraphrase_score": {"min": 0.4, "max": 1.0}}, scores) == [True, False, True, False]


def test_a_bound_that_is_not_given_bounds_nothing():
    assert accepted({"trigram_overlap": {"max": 0.7}}, block(trigram_overlap=[0.0, 0.71])) == [True, False]
    assert accepted({"paraphrase_score": {"min": 0.4}}, block(paraphrase_score=[1.0, 0.39])) == [True, False]


def test_a_near_copy_has_few_changed_words_and_a_high_overlap():
    pairs = block(changed_words=[0, 1, 1, 2, 1], trigram_overlap=[1, 2 / 3, 0.64, 0.9, 0.65])
    bounds = {"max_changed_words": 1, "min_trigram_overlap": 0.65}
    assert accepted({"near_copy": bounds}, pairs) == [False, False, True, True, False]


def test_no_settings_ask_for_tokens_only():
    (only,) = build_filters({"length": None, "language": None}, ("en", "de"))
    pairs = block(source_tokens=[1, 0, 1, 0], target_tokens=[1, 1, 0, 0])
    assert only.accept(only.score(pairs)).tolist() == [True, False, False, False]
