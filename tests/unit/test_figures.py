"""Test figures, their resamples and intervals, and the results that are written of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from function_encoder import FunctionEncoder
from result_files import made_result
from scipy import stats

from paraphrastic_pipeline.evaluation.figures import (
    Data,
    Figure,
    bootstrap,
    correlations,
    draws,
    interval,
    mean_of,
    paired_bootstrap,
    precision_recall_f1,
    resampled_correlations,
    share,
)
from paraphrastic_pipeline.evaluation.systems import write_result

ENCODER = FunctionEncoder("P-SP de", 3, "abc", lambda sentences, _: np.ones((len(sentences), 3), np.float32))
DATA = [Data(name="x", digest="d", about={"n": 500})]


def written(
    folder: Path, figures: Mapping[str, Figure], *, known: Any = None, **about: Any
) -> dict[str, Any]:
    """The content of a result; `known` are the official digests."""
    official = None
    if known is not None:
        official = folder / "official.json"
        official.write_text(json.dumps(known))
    given = {"task": "sts", "source": "measured", "bootstrap_samples": 100, **about}
    write_result(folder / "result.json", ENCODER, figures, official=official, **given)
    return json.loads((folder / "result.json").read_text())


def correlated(seed: int, noise: float, n: int = 500) -> Figure:
    """Pearson's r of a system whose scores are noisy; all systems have the same gold scores."""
    gold = np.random.default_rng(0).normal(size=n)
    scores = gold + noise * np.random.default_rng(seed).normal(size=n)
    return correlations("x", scores, gold, data=DATA, at="x")["pearson x"]


def test_a_result_has_figures_and_data_sets(tmp_path: Path) -> None:
    others = [Data(name="y", digest="e")]
    figures = {
        "pearson x": correlated(1, 1.0),
        "accuracy y": share(np.array([True, False, True, True]), seed="y", data=others),
    }
    content = written(tmp_path, figures, known={"x": "d", "y": "e"})
    assert (content["task"], content["system"], content["digest"], content["dim"]) == (
        "sts",
        "P-SP de",
        "abc",
        3,
    )
    assert content["datasets"] == {
        "x": {"n": 500, "digest": "d", "official": True},
        "y": {"digest": "e", "official": True},
    }
    figure = content["measurements"]["accuracy y"]
    assert (figure["value"], figure["n"]) == (0.75, 4)
    assert figure["interval"] == figures["accuracy y"].interval(100)
    assert figure["interval"][0] < 0.75 < figure["interval"][1] == 1.0


@pytest.mark.parametrize(
    ("known", "sample", "data"),
    [
        ({"x": "d"}, False, "official"),
        ({"x": "d"}, True, "sample"),
        ({"x": "other"}, False, "sample"),
        ({}, False, "sample"),
        (None, False, "own"),
        (None, True, "sample"),
    ],
)
def test_data_are_official_by_their_digests(
    tmp_path: Path, known: dict[str, str] | None, sample: bool, data: str
) -> None:
    assert written(tmp_path, {"f": correlated(1, 1.0)}, known=known, sample=sample)["data"] == data


@pytest.mark.parametrize(
    ("task", "dataset", "without"),
    [("sts", "2013/FNWN", "2013 without SMT"), ("sts", "2013/SMT", ""), ("tatoeba", "de", "")],
)
def test_what_means_are_without(task: str, dataset: str, without: str) -> None:
    result = made_result({}, task=task, datasets={dataset: {}})
    assert result.without == without
    assert result.name == "P-SP en" + (f" ({without})" if without else "")


def test_resamples_depend_on_the_data_alone() -> None:
    first = np.concatenate(list(draws("2012/MSRpar", 750, 300)))
    assert first.shape == (300, 750)
    np.testing.assert_array_equal(first, np.concatenate(list(draws("2012/MSRpar", 750, 300))))
    assert (first != np.concatenate(list(draws("2012/MSRvid", 750, 300)))).any()
    values = np.random.default_rng(1).random(750)
    means = bootstrap(lambda drawn: drawn.mean(axis=1), values, seed="2012/MSRpar")(300)
    np.testing.assert_allclose(means, values[first].mean(axis=1))


def test_precision_recall_and_f1_are_ratios_of_sums() -> None:
    counts = np.random.default_rng(2).integers(0, 3, (750, 3)).astype(float)
    found = precision_recall_f1(counts, seed="x", data=DATA)
    drawn = counts[np.concatenate(list(draws("x", 750, 300)))].sum(axis=1)
    for sums, values in (
        (counts.sum(axis=0), {kind: figure.value for kind, figure in found.items()}),
        (drawn.T, {kind: figure.resampled(300) for kind, figure in found.items()}),
    ):
        hits, accepted, gold = sums
        expected = {"precision": hits / accepted, "recall": hits / gold, "f1": 2 * hits / (accepted + gold)}
        for kind, value in expected.items():
            np.testing.assert_allclose(values[kind], value)
    nothing = precision_recall_f1(np.zeros((4, 3)), seed="x", data=DATA)
    assert [(figure.value, figure.interval(9)) for figure in nothing.values()] == [(0, [0, 0])] * 3


def test_resampled_correlations_are_those_of_scipy() -> None:
    generator = np.random.default_rng(5)
    # There are ties on both sides.
    gold = generator.integers(0, 4, 30).astype(float)
    scores = np.round(gold + generator.normal(size=30))
    found = correlations("x", scores, gold, data=DATA, at="x")
    (drawn,) = draws("x", 30, 20)
    for kind, correlation in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        expected = [correlation(scores[rows], gold[rows]).statistic for rows in drawn]
        np.testing.assert_allclose(found[f"{kind} x"].resampled(20), expected)
        assert found[f"{kind} x"].value == pytest.approx(correlation(scores, gold).statistic)


def test_a_correlation_of_ranks_does_not_change_with_the_scale() -> None:
    scores, gold = np.random.default_rng(5).normal(size=(2, 400))
    first, cubed = (resampled_correlations(x, gold, seed="a") for x in (scores, scores**3))
    np.testing.assert_array_equal(first["spearman"](200), cubed["spearman"](200))


def test_constant_resamples_have_no_correlation() -> None:
    # If there are two rows, half of all resamples consist of copies of one of them.
    values = np.array([1.0, 2.0])
    for resampled in resampled_correlations(values, values, seed="a").values():
        assert set(resampled(50)) == {0, 1}


def test_an_interval_holds_95_percent() -> None:
    assert interval(np.random.default_rng(0).permutation(1001).astype(float)) == [25.0, 975.0]


def test_a_mean_has_the_means_of_the_resamples() -> None:
    first, second = correlated(1, 1.0), correlated(2, 2.0)
    mean = mean_of([first, second])
    assert (mean.value, mean.n) == (pytest.approx((first.value + second.value) / 2), 1000)
    np.testing.assert_allclose(mean.resampled(50), (first.resampled(50) + second.resampled(50)) / 2)
    assert mean.data == DATA


def test_the_paired_bootstrap_is_two_sided_and_sees_what_intervals_hide() -> None:
    def made(samples: np.ndarray) -> Figure:
        return Figure(value=0.0, resampled=lambda _: samples, n=9, data=DATA)

    # The first system is the worse one in 30 of 999 resamples, and the better one in the others.
    difference, zero = made(np.where(np.arange(999) < 30, -1.0, 1.0)), made(np.zeros(999))
    for pair, p in (((difference, zero), 0.062), ((zero, difference), 0.062), ((zero, zero), 1.0)):
        assert paired_bootstrap(*pair, 999) == pytest.approx(p)
    generator = np.random.default_rng(4)
    hits = generator.random(2000) < 0.5
    better = hits | (generator.random(2000) < 0.02)
    first, second = (share(each, seed="x", data=DATA) for each in (hits, better))
    assert first.interval(1000)[1] > second.interval(1000)[0]
    assert paired_bootstrap(first, second, 1000) < 0.01
