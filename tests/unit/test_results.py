"""Test results, their bootstrap samples, and comparisons of systems."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from function_encoder import FunctionEncoder
from scipy import stats

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.measurement import (
    Measurement,
    best,
    bootstrap,
    correlations,
    draws,
    interval,
    p_value,
    paired_bootstrap,
    precision_recall_f1,
    row_pearson,
    row_spearman,
    share,
    williams,
)
from paraphrastic_pipeline.evaluation.results import Result, samples_of, write_result
from paraphrastic_pipeline.evaluation.system_tables import EvaluatedSystem, gathered

ENCODER = FunctionEncoder("P-SP de", 3, "abc", lambda sentences, _: np.ones((len(sentences), 3), np.float32))


def correlated(seed: int, noise: float, n: int = 500, digest: str = "d") -> Measurement:
    """Return Pearson's r of a system whose scores are noisy; all systems have the same gold scores."""
    gold = np.random.default_rng(0).normal(size=n)
    scores = gold + noise * np.random.default_rng(seed).normal(size=n)
    return correlations(scores, gold, name="x", at="x", digest=digest, samples=500)["pearson x"]


def written(folder: Path, measurements: dict[str, Measurement], name: str = "sts") -> Path:
    path = folder / f"{name}.json"
    write_result(path, ENCODER, measurements, task="sts", source="measured", official=False)
    return path


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    measurement = correlated(1, 1.0)
    hits = share(np.array([True, False, True, True]), name="y", digest="e", samples=100)
    result = Result(written(tmp_path, {"pearson x": measurement, "accuracy y": hits}))
    assert (result.content["system"], result.official) == ("P-SP de", False)
    assert "pearson x" in result
    assert "pearson z" not in result
    again = result.measurement("pearson x")
    assert again.value == pytest.approx(measurement.value)
    for key in ("samples", "scores", "gold"):
        np.testing.assert_array_equal(getattr(again, key), getattr(measurement, key))
    assert result.measurement("accuracy y").scores is None
    content = json.loads(result.path.read_text())
    figure = content["measurements"]["accuracy y"]
    assert (figure["value"], figure["n"], figure["digest"]) == (0.75, 4, "e")
    assert figure["interval"][0] < 0.75 < figure["interval"][1] == 1.0


def test_figures_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    nan = Measurement(value=float("nan"), samples=np.zeros(3), n=3, digest="d")
    with pytest.raises(InputError, match=r"P-SP de: error de is not finite: nan"):
        written(tmp_path, {"error de": nan})
    assert not list(tmp_path.iterdir())


def test_damaged_files_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, {"pearson x": correlated(1, 1.0)})
    whole, generator = samples_of(path).read_bytes(), random.Random(1)
    for place in generator.sample(range(len(whole)), 20):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << generator.randrange(8)
        for content in (bytes(flipped), whole[:place]):
            samples_of(path).write_bytes(content)
            with pytest.raises(
                InputError, match=r"sts\.npz: damaged: its sha256 is not the one in sts\.json"
            ):
                Result(path).measurement("pearson x")
    samples_of(path).unlink()
    with pytest.raises(InputError, match=r"sts\.npz: not readable: .*No such file"):
        Result(path).measurement("pearson x")
    path.write_text("{}")
    with pytest.raises(InputError, match=r"sts\.json: is not a result of an evaluation"):
        Result(path)


def test_resamples_depend_on_the_data_alone() -> None:
    first = np.concatenate(list(draws("2012/MSRpar", 750, 300)))
    assert first.shape == (300, 750)
    np.testing.assert_array_equal(first, np.concatenate(list(draws("2012/MSRpar", 750, 300))))
    assert (first != np.concatenate(list(draws("2012/MSRvid", 750, 300)))).any()
    values = np.random.default_rng(1).random(750)
    means = bootstrap(lambda drawn: drawn.mean(axis=1), values, name="2012/MSRpar", samples=300)
    np.testing.assert_allclose(means, values[first].mean(axis=1))


def test_precision_recall_and_f1_are_ratios_of_sums() -> None:
    counts = np.random.default_rng(2).integers(0, 3, (750, 3)).astype(float)
    found = precision_recall_f1(counts, name="x", digest="d", samples=300)
    drawn = counts[np.concatenate(list(draws("x", 750, 300)))].sum(axis=1)
    for sums, of in ((counts.sum(axis=0), "value"), (drawn.T, "samples")):
        hits, accepted, gold = sums
        expected = {"precision": hits / accepted, "recall": hits / gold, "f1": 2 * hits / (accepted + gold)}
        for kind, value in expected.items():
            np.testing.assert_allclose(getattr(found[kind], of), value)
    nothing = precision_recall_f1(np.zeros((4, 3)), name="x", digest="d", samples=3)
    assert [figure.value for figure in nothing.values()] == [0, 0, 0]


def test_an_interval_of_a_share_is_that_of_the_binomial_distribution() -> None:
    hits = np.arange(1000) < 300
    found = share(hits, name="x", digest="d", samples=4000)
    low, high = np.percentile(found.samples, [2.5, 97.5])
    exact = stats.binom.ppf([0.025, 0.975], 1000, 0.3) / 1000
    np.testing.assert_allclose([low, high], exact, atol=0.003)


def test_resampled_correlations_are_those_of_scipy() -> None:
    generator = np.random.default_rng(5)
    # There are ties on both sides.
    gold = generator.integers(0, 4, 30).astype(float)
    scores = np.round(gold + generator.normal(size=30))
    found = correlations(scores, gold, name="x", at="x", digest="d", samples=20)
    (drawn,) = draws("x", 30, 20)
    for kind, correlation in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        expected = [correlation(scores[rows], gold[rows]).statistic for rows in drawn]
        np.testing.assert_allclose(found[f"{kind} x"].samples, expected)
        assert found[f"{kind} x"].value == pytest.approx(correlation(scores, gold).statistic)
    np.testing.assert_array_equal(found["spearman x"].gold, stats.rankdata(gold))


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        # Steiger 1980, page 247: n = 103, r12 = .4, r13 = .5 and r23 = .1 give t(100) = -0.89.
        (103, 2 * stats.t.sf(0.89, 100)),
        # The same formula by hand: t² = .01 · 4 · 1.1 / (2 · .62 · 4 / 2 + .45² · .9³); with two degrees of
        # freedom, p = 1 - √(t² / (2 + t²)).
        (5, 1 - (0.016745 / 2.016745) ** 0.5),
        # t² = .01 · 3 · 1.1 / (2 · .62 · 3 / 1 + .45² · .9³); with one degree, p = 1 - 2 / π · arctan |t|.
        (4, 1 - 2 / np.pi * np.arctan((0.033 / 3.867623) ** 0.5)),
    ],
)
def test_williams_test_is_that_of_a_published_example(n: int, expected: float) -> None:
    r_first, r_second, r_systems = 0.4, 0.5, 0.1
    generator = np.random.default_rng(0)
    raw = generator.normal(size=(n, 3))
    raw -= raw.mean(axis=0)
    white = np.linalg.qr(raw)[0] * np.sqrt(n)
    covariance = np.array([[1, r_first, r_second], [r_first, 1, r_systems], [r_second, r_systems, 1]])
    gold, first, second = (white @ np.linalg.cholesky(covariance).T).T
    p = williams(first, second, gold, r_first, r_second)
    assert p == pytest.approx(expected, abs=0.004 if n > 100 else 1e-5)
    assert p == pytest.approx(williams(second, first, gold, r_second, r_first))
    assert np.isnan(williams(first[:3], second[:3], gold[:3], r_first, r_second))
    # Twice the same scores correlate exactly alike.
    assert williams(np.arange(4.0), 2 * np.arange(4.0), gold[:4], 0.5, 0.5) == 1.0
    assert williams(first[:3], first[:3].copy(), gold[:3], r_first, r_first) == 1.0


def test_williams_test_has_its_error_rate() -> None:
    generator = np.random.default_rng(3)
    below = 0
    for _ in range(400):
        gold = generator.normal(size=80)
        first, second = (gold + generator.normal(size=80) for _ in range(2))
        rs = [float(np.corrcoef(gold, scores)[0, 1]) for scores in (first, second)]
        below += williams(first, second, gold, *rs) < 0.05
    assert 0.02 < below / 400 < 0.09


def test_a_system_does_not_differ_from_itself() -> None:
    found = correlated(1, 1.0)
    assert p_value(found, found) == 1.0
    assert paired_bootstrap(found.samples, found.samples) == 1.0


def test_figures_of_other_test_data_are_not_compared() -> None:
    assert p_value(correlated(1, 1.0), correlated(2, 1.0, digest="e")) is None
    assert p_value(correlated(1, 0.5), correlated(2, 2.0)) < 1e-10


def test_the_paired_bootstrap_is_two_sided() -> None:
    # The first system is the worse one in 30 of 999 resamples, and the better one in the others.
    difference = np.where(np.arange(999) < 30, -1.0, 1.0)
    assert paired_bootstrap(difference, np.zeros(999)) == pytest.approx(2 * 31 / 1000)
    assert paired_bootstrap(np.zeros(999), difference) == pytest.approx(2 * 31 / 1000)


def test_an_interval_holds_95_percent() -> None:
    assert interval(np.random.default_rng(0).permutation(1001).astype(float)) == [25.0, 975.0]


def test_the_paired_bootstrap_sees_what_intervals_hide() -> None:
    generator = np.random.default_rng(4)
    hits = generator.random(2000) < 0.5
    better = hits | (generator.random(2000) < 0.02)
    first, second = (share(each, name="x", digest="d", samples=1000) for each in (hits, better))
    intervals = [np.percentile(each.samples, [2.5, 97.5]) for each in (first, second)]
    assert intervals[0][1] > intervals[1][0]
    assert p_value(first, second) < 0.01


def test_the_best_is_marked_where_all_differences_hold() -> None:
    good, fair, same = correlated(1, 0.5), correlated(2, 2.0), correlated(5, 2.0)
    assert best([good, None, fair]) == 0
    assert best([fair, same, good]) == 2
    assert best([fair, same]) is None
    assert best([good]) is None
    assert best([good], published=[good.value - 0.2]) == 0
    assert best([good], published=[good.value - 0.001]) is None
    assert best([]) is None


def test_a_difference_must_be_larger_than_its_bounds_to_hold() -> None:
    def made(value: float, samples: int, figure: float | None = None) -> Measurement:
        resampled = np.full(samples, value if figure is None else figure)
        return Measurement(value=value, samples=resampled, n=9, digest="d")

    # If one of two systems is better in all of 39 resamples, p is 2 / 40, and 2 / 41 in all of 40.
    assert best([made(0.9, 39), made(0.8, 39)]) is None
    assert best([made(0.9, 40), made(0.8, 40)]) == 0
    assert best([made(0.9, 99), made(0.9, 99, figure=0.8)]) is None
    assert best([made(1.0, 99)], published=[1.0]) is None
    assert best([made(1.0, 99)], published=[0.99]) == 0


def test_scores_on_another_scale_do_not_differ() -> None:
    gold = np.array([1.0, 3.0, 2.0, 4.0, 7.0])
    scores = np.arange(5.0)
    for factor in (2.0, 0.1, 3.0):
        pair = (
            correlations(each, gold, name="x", at="x", digest="d", samples=5)["pearson x"]
            for each in (scores, factor * scores)
        )
        assert p_value(*pair) == 1.0
    assert williams(scores, 2 * scores, gold, 1.0, 1.0) == 1.0


def test_constant_resamples_have_no_correlation() -> None:
    rows = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0]])
    assert row_pearson(rows, rows[:, ::-1])[0] == 0
    assert row_spearman(rows, rows).tolist() == [0, 1]


def test_the_lowest_error_rate_is_the_best() -> None:
    misses = np.arange(1000)
    low, high = (
        share(misses < n, name="x", digest="d", samples=500, higher_is_better=False) for n in (50, 300)
    )
    assert best([high, low]) == 1
    assert best([low], published=[0.3]) == 0
    assert best([low], published=[0.01]) is None


def test_several_runs_have_a_mean_and_a_deviation(tmp_path: Path) -> None:
    found = [correlated(seed, 1.0) for seed in (1, 2, 3)]
    runs = [written(tmp_path, {"pearson x": each}, f"{i}") for i, each in enumerate(found)]
    figure = EvaluatedSystem("de", tuple(map(Result, runs))).figure("pearson x")
    assert figure is not None
    values = [each.value for each in found]
    assert figure.value == pytest.approx(np.mean(values))
    assert figure.deviation == pytest.approx(np.std(values, ddof=1))
    np.testing.assert_allclose(figure.samples, np.mean([each.samples for each in found], axis=0))
    other = written(tmp_path, {"pearson x": correlated(1, 1.0, digest="e")}, "other")
    with pytest.raises(InputError, match=r"pearson x: not computed on the same test data"):
        EvaluatedSystem("de", (Result(runs[0]), Result(other))).figure("pearson x")


def test_each_language_is_shown_by_the_model_that_is_for_it(tmp_path: Path) -> None:
    found = correlated(1, 1.0)
    tracks = {"en": ["en-en"], "ar": ["ar-ar", "ar-en", "en-en"], "de": ["en-en"]}
    systems = [
        EvaluatedSystem(name, (Result(written(tmp_path, dict.fromkeys(names, found), name)),))
        for name, names in tracks.items()
    ]
    chosen = gathered(systems, ["en-en", "ar-ar", "ar-en", "es-es"])
    assert {name: system.name for name, system in chosen.items()} == {
        "en-en": "en",
        "ar-ar": "ar",
        "ar-en": "ar",
    }
    assert gathered(systems[1:2], ["en-en", "ar-ar"]) == {}
