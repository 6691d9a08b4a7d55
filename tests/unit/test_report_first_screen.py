"""Test what a reader learns first: what surprised, how fast models are, and what a run cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.report.first_screen import surprises
from paraphrastic_pipeline.report.outcome import Outcome
from paraphrastic_pipeline.report.page import write_report
from paraphrastic_pipeline.report.summary import Gain, Headline, read_speeds
from paraphrastic_pipeline.training.history import in_words


def found(tables: Path, headline: Headline | None = None) -> list[str]:
    return surprises(tables, headline, [], lambda name: (tables / f"{name}.csv").exists())


def write(tables: Path, name: str, rows: Sequence[dict[str, Any]]) -> Path:
    write_csv(tables / f"{name}.csv", list(rows[0]), rows)
    return tables / f"{name}.csv"


def test_nothing_surprises_in_an_ordinary_run(tmp_path: Path) -> None:
    write(tmp_path, "contamination", [
        {"model": "en", "corpus": "a", "testset": "sts", "dropped": 3, "share": "1.00"},
        {"model": "en", "corpus": "a", "testset": "all", "dropped": 3, "share": "9.00"},
    ])  # fmt: skip
    write(tmp_path, "funnel", [
        {"model": "en", "corpus": "a", "read": 100, "rank": "", "length": 20, "capped": 10, "kept": 70}
    ])  # fmt: skip
    sweep = [("0.0", 1), ("0.1", 5), ("0.3", 9)]
    write(tmp_path, "sweep", [
        {"model": "en", "dropout": dropout, "megabatch": 1, "chosen": "yes" if dropout == "0.0" else ""}
        for dropout, _ in sweep
    ] + [
        {"model": "de", "dropout": dropout, "megabatch": megabatch, "chosen": "yes" if megabatch == 5 else ""}
        for dropout, megabatch in sweep
    ])  # fmt: skip
    headline = Headline(
        [Gain("P-SP", 60.0, 55.0, (58.0, 62.0)), Gain("B", 50.0, None, None)], None, False, (0, 1)
    )
    assert found(tmp_path, headline) == []


def test_what_surprises(tmp_path: Path) -> None:
    write(tmp_path, "contamination", [
        {"model": model, "corpus": "a", "testset": "sts", "dropped": dropped, "share": share}
        for model, dropped, share in (("en", 1200, "5.01"), ("de", 1200, "5.01"), ("fr", 0, "9.19"))
    ])  # fmt: skip
    write(tmp_path, "funnel", [
        {"model": model, "corpus": "a", "read": 1000, "rank": "", "length": 100, "near_copy": 501,
         "duplicates": 200, "capped": 0, "kept": 199}
        for model in ("en", "de", "fr")
    ])  # fmt: skip
    write(tmp_path, "sweep", [
        {"model": "en", "dropout": 0.1, "megabatch": size, "chosen": "yes" if size == 100 else ""}
        for size in (60, 100, 20)
    ])  # fmt: skip
    headline = Headline([Gain("P-SP", 60.0, 58.0, (58.0, 62.0))], None, False, (0, 1))
    assert found(tmp_path, headline) == [
        "Training has made no clear difference to P-SP (58.0 before and 60.0 after): the score before it "
        "lies within the interval of the score after it.",
        "5.01 % of the pairs of a for en and de have a sentence of the test set sts. 1,200 pairs were "
        "dropped.",
        "9.19 % of the pairs of a for fr have a sentence of the test set sts. They were not dropped.",
        "For en, de and fr: 80% of the pairs of a are dropped, 801 of 1,000, and 501 of them because of "
        "near_copy.",
        "The best megabatch of the model en is 100, the largest of the 3 values that were tried, so the best "
        "one may lie beyond it.",
    ]


def test_sides_of_unequal_length_surprise(tmp_path: Path) -> None:
    write(tmp_path, "corpora", [
        {"model": "de", "corpus": corpus, "language": language, "length": length}
        for corpus, language, length in (
            ("a", "en", "9.00"), ("a", "de", "18.00"), ("b", "en", "9.00"), ("b", "de", "18.90"),
            ("all", "en", ""),
        )
    ])  # fmt: skip
    assert found(tmp_path) == [
        "The sentences of b in de are 2.1 times as long as those in en for de, so many of its pairs may be "
        "no translations."
    ]


def test_low_retrieval_and_training_without_an_effect_surprise(tmp_path: Path) -> None:
    def outcome(model: str, share: float, before: float | None) -> Outcome:
        return Outcome(model, 200, share, (share - 5, share + 5), share, 10_000, before, [])

    outcomes = [outcome("a", 80, 3), outcome("b", 40, None), outcome("c", 60, 56)]
    # English STS then says nothing.
    headline = Headline([Gain("P-SP", 60.0, 58.0, (58.0, 62.0))], None, False, (0, 1))
    assert surprises(tmp_path, headline, outcomes, lambda name: False) == [
        "b finds the partners of only 40.0 % of held-out sentences.",
        "Training has made no clear difference to c: 56.0 % of the held-out sentences found their partner "
        "before it, and 60.0 % after it.",
    ]


def test_a_damaged_table_is_named_in_the_page(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    write(tmp_path / "tables", "sweep", [{"model": "en", "chosen": "yes"}])
    write_report(tmp_path, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "What surprised</b>" in page
    assert "not readable: KeyError" in page


def test_speeds_stand_beside_the_published_one(tmp_path: Path) -> None:
    shared = {"batch_size": 64, "preprocessing": "counted"}
    rows = [
        {"system": "P-SP", "source": "published", "device": "cpu", "cores": 1, **shared,
         "preprocessing": "not counted", "sentences_per_second": 12776},
        {"system": "LASER", "source": "published", "device": "cpu", "cores": 1, **shared,
         "sentences_per_second": 26},
        {"system": "ours", "source": "measured", "device": "cpu", "cores": 1, **shared,
         "sentences_per_second": 200000},
        {"system": "other", "source": "measured", "device": "cpu", "cores": 1, **shared,
         "sentences_per_second": 900},
        {"system": "ours", "source": "measured", "device": "cpu", "cores": 2, **shared,
         "sentences_per_second": 390000},
        {"system": "ours", "source": "measured", "device": "gpu", "cores": "", **shared,
         "preprocessing": "not counted", "sentences_per_second": 9999999},
    ]  # fmt: skip
    assert read_speeds(write(tmp_path, "speed", rows)) == [
        ("390,000", "sentences per second on 2 cores of this machine, from raw text to vectors, by ours"),
        ("200,000", "sentences per second on 1 core of this machine, from raw text to vectors, by ours"),
        ("12,776", "is the best figure that the papers print for one core: P-SP, without cutting the text"),
    ]
    assert read_speeds(write(tmp_path, "speed", rows[:2])) == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds"), (1, "1 second"), (119, "119 seconds"), (120, "2 minutes"), (7199, "120 minutes"),
     (7200, "2.0 hours"), (172800, "2.0 days")],
)  # fmt: skip
def test_durations_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
