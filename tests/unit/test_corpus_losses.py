"""Test what is said of steps that drop many pairs."""

import logging

import pytest
from paraphrastic_pipeline.corpus.losses import extraction_loss, filter_loss, losses, merge_loss, warn


def test_few_pairs_are_no_loss():
    assert filter_loss("a", 1000, {"empty": 0, "length": 200, "language": 100}) is None
    assert filter_loss("a", 0, {"empty": 0}) is None
    assert merge_loss("a", 10, {"duplicates": 3, "capped": 0}) is None


@pytest.mark.parametrize(
    ("dropped", "sentence"),
    [
        (
            {"empty": 1, "length": 200, "language": 2000},
            "The filters drop 37% of a, 2,201 of 6,000 pairs: 2,000 of them because of their language; the "
            "setting is selection.bitext.language.",
        ),
        (
            {"length": 0, "trigram_overlap": 3000},
            "The filters drop 50% of a, 3,000 of 6,000 pairs: all because of their trigram overlap; the "
            "setting is selection.paraphrase.trigram_overlap.",
        ),
        (
            {"empty": 4000, "length": 1},
            "The filters drop 67% of a, 4,001 of 6,000 pairs: 4,000 of them because of a side without text.",
        ),
    ],
)
def test_all_filters_are_one_step(dropped, sentence):
    assert filter_loss("a", 6000, dropped) == sentence


def test_rows_that_cannot_be_read_are_a_loss_of_the_extraction():
    assert extraction_loss("a", 700, 300) is None
    assert extraction_loss("a", 520, 800) == (
        "The extraction drops 61% of a, 800 of 1,320 pairs: all because of faults, the first of which its "
        "log names; the setting is extraction.max_unreadable."
    )


def test_the_merge_is_another_step():
    counts = {"read": 1000, "length": 301, "language": 0, "duplicates": 100, "near_duplicates": 0}
    counts |= {"contaminated": 0, "capped": 200, "kept": 399}
    assert list(losses("a", counts)) == [
        "The filters drop 30% of a, 301 of 1,000 pairs: all because of their length; the setting is "
        "selection.bitext.length.",
        "The merge drops 43% of a, 300 of 699 pairs: 200 of them because of the largest number of pairs "
        "that is allowed; the setting is max_pairs.",
    ]


def test_a_warning_is_logged(caplog):
    with caplog.at_level(logging.WARNING):
        warn(None)
        warn("This is much.")
    assert caplog.messages == ["warning: This is much."]
