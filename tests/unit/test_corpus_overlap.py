"""Test trigram overlap and changed words against known cases and a plain reference."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraphrastic_pipeline.corpus.overlap import compare_words


def plain_overlap(source, target):
    """The share of the shorter sentence's trigrams, each occurrence, that the other sentence has."""
    one, other = (
        Counter(zip(words, words[1:], words[2:], strict=False)) for words in sorted((source, target), key=len)
    )
    return sum(n for trigram, n in one.items() if trigram in other) / max(1, one.total())


def common(one, other):
    """How many words two sentences begin with alike."""
    differ = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differ, min(len(one), len(other)))


def plain_change(source, target):
    """The words of the longer sentence between the common beginning and the common end."""
    one, other = ([word for word in words if word.isalnum()] for words in (source, target))
    alike = common(one, other) + common(one[::-1], other[::-1])
    return max(len(one), len(other)) - min(len(one), len(other), alike)


@pytest.mark.parametrize(
    ("source", "target", "shared", "changed"),
    [
        ("A B c", "x a b C y", 1, 5),
        ("a b", "a b", 0, 0),
        ("a a a a", "a a a b b b", 1, 3),
        ("a b c.", "(a b c)", 1 / 2, 0),
        ("a dog on the grass.", "A dog on the lawn", 2 / 3, 1),
        ("don't go, John!", "Don't go John", 0, 0),
        ("a b a b", "a b", 0, 2),
        ("", ".", 0, 0),
    ],
)
def test_known_cases(source, target, shared, changed):
    overlaps, changes = compare_words([source, target, "x"], [target, source, "x y z"])
    assert overlaps.dtype == np.float32
    assert overlaps.tolist() == pytest.approx([shared, shared, 0])
    assert changes.tolist() == [changed, changed, 2]


def test_of_two_sentences_with_equally_many_words_the_source_counts():
    sides = ["a a a a x", "a a a b c"]
    assert compare_words(sides, sides[::-1])[0].tolist() == pytest.approx([2 / 3, 1 / 3])


@given(st.lists(st.tuples(*[st.lists(st.sampled_from("abc.,"), max_size=14)] * 2), max_size=9))
@settings(max_examples=300, deadline=None)
def test_random_pairs_beside_plain_words(pairs):
    overlaps, changes = compare_words(*[[" ".join(pair[side]) for pair in pairs] for side in (0, 1)])
    np.testing.assert_allclose(overlaps, [plain_overlap(*pair) for pair in pairs], rtol=1e-6)
    assert changes.tolist() == [plain_change(*pair) for pair in pairs]
