"""Test `evaluate`: its figures beside plain counts, its thresholds, and the pairs that it reads."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score
from small_corpus import PAIRS

from paraphrastic import Source
from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import BadRow
from paraphrastic.cli import main
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import cosines
from paraphrastic.quality.correlation import pearson, ranked, spearman
from paraphrastic.quality.evaluate_files import evaluate_pairs
from paraphrastic.quality.labelled_pairs import LabelledPairs, read_pairs
from paraphrastic.quality.retrieval import wilson
from paraphrastic.quality.thresholds import Thresholds, auc


def pairs_of(sources: list[str], targets: list[str], labels: Any = None) -> LabelledPairs:
    return LabelledPairs(
        "pairs", sources, targets, None if labels is None else np.array(labels, float), len(sources)
    )


def test_retrieval_is_counted(model: AverageEncoder) -> None:
    chosen = [*PAIRS[:60], PAIRS[0], (PAIRS[1][0], PAIRS[2][1])]
    sources, targets = (list(side) for side in zip(*chosen, strict=True))
    result = evaluate_pairs(model, pairs_of(sources, targets), model="m")
    partners = set(chosen)
    for name, side, others, turn in (("forward", sources, targets, 1), ("backward", targets, sources, -1)):
        candidates = list(dict.fromkeys(others))
        table = model.similarity(model.encode(side), model.encode(candidates))
        order = np.argsort(-table, axis=1, kind="stable")[:, :10]
        right = [
            [(text, candidates[place])[::turn] in partners for place in near]
            for text, near in zip(side, order, strict=True)
        ]
        hits = sum(near[0] for near in right)
        assert result[name]["nearest"] == pytest.approx(hits / len(side))
        assert result[name]["among_10"] == pytest.approx(sum(map(any, right)) / len(side))
        interval = stats.binomtest(hits, len(side)).proportion_ci(method="wilson")
        assert result[name]["interval"] == pytest.approx([interval.low, interval.high], abs=1e-4)
    assert result["dim"] == model.dim
    assert result["digest"] == model.digest


def test_labels_are_measured(model: AverageEncoder) -> None:
    sources, targets = (list(side) for side in zip(*PAIRS[:40], strict=True))
    targets = [*targets[:20], *targets[21:], targets[20]]
    # Some labels are wrong on purpose.
    labels = [0, 0] + [1] * 18 + [0] * 18 + [1, 1]
    scores = cosines(model.encode(sources), model.encode(targets))
    result = evaluate_pairs(model, pairs_of(sources, targets, labels), model="m")
    area = result["auc"]
    assert area == pytest.approx(roc_auc_score(labels, scores))
    low, high = result["interval"]
    assert 0 <= low < area <= high <= 1
    # Hanley and McNeil (1982), equation 2.
    first, second = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (area * (1 - area) + 19 * (first - area**2) + 19 * (second - area**2)) / 400
    assert area - low == pytest.approx(1.959964 * math.sqrt(variance))
    for row in [*result["thresholds"], result["best"]]:
        figures = precision_recall_fscore_support(
            labels, scores >= row["threshold"], average="binary", zero_division=1
        )
        assert [row["precision"], row["recall"], row["f1"]] == pytest.approx(list(figures[:3]))
    graded = [float(number % 7) for number in range(40)]
    result = evaluate_pairs(model, pairs_of(sources, targets, graded), model="m")
    rho = stats.spearmanr(scores, graded).statistic
    assert [result["spearman"], result["pearson"]] == pytest.approx(
        [rho, stats.pearsonr(scores, graded).statistic]
    )
    room = 1.959964 * math.sqrt((1 + rho**2 / 2) / 37)
    assert result["interval"] == pytest.approx(
        [math.tanh(math.atanh(rho) - room), math.tanh(math.atanh(rho) + room)]
    )
    assert "threshold" not in result
    with pytest.raises(InputError, match=r"^pairs: .*precision"):
        evaluate_pairs(model, pairs_of(sources, targets, graded), model="m", precision=0.9)
    wrong = [1 - label for label in labels]
    with pytest.raises(InputError, match="precision"):
        evaluate_pairs(model, pairs_of(sources, targets, wrong), model="m", precision=0.999)


scored = st.lists(
    st.tuples(st.sampled_from([-0.2, 0.1, 0.1 + 1e-9, 0.3, 0.5, 0.7, 0.9, 1.0]), st.booleans()),
    min_size=2,
    max_size=30,
)


@settings(max_examples=200, deadline=None)
@given(pairs=scored, precision=st.sampled_from([None, 0.2, 0.5, 0.9, 1.0]))
def test_thresholds(pairs: list[tuple[float, bool]], precision: float | None) -> None:
    scores, right = (np.array(side) for side in zip(*pairs, strict=True))
    wanted = max(1, int(right.sum()))
    thresholds = Thresholds(scores, right, wanted)

    def at(threshold: float) -> tuple[float, float, float]:
        accepted = scores >= threshold
        hits = int((accepted & right).sum())
        return (
            hits / accepted.sum() if accepted.any() else 1.0,
            hits / wanted,
            2 * hits / (accepted.sum() + wanted),
        )

    for row in thresholds.table():
        assert (row.precision, row.recall, row.f1) == at(row.threshold)
    best = thresholds.best(precision)
    options = [(score, *at(score)) for score in scores]
    able = [option for option in options if precision is None or option[1] >= precision]
    if best is None:
        assert able == []
        return
    assert (best.precision, best.recall, best.f1) == at(best.threshold)
    if precision is None:
        assert best.f1 == max(option[3] for option in options)
    else:
        assert best.recall == max(option[2] for option in able)
        assert best.precision >= precision
    # The threshold never excludes the score that set it.
    assert best.threshold <= min(scores[scores >= best.threshold])
    if 0 < right.sum() < len(right):
        assert auc(scores, right) == pytest.approx(roc_auc_score(right, scores))


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(-3, 3), min_size=3, max_size=30), seed=st.integers(0, 99))
def test_correlations_are_those_of_scipy(values: list[int], seed: int) -> None:
    gold = np.array(values, float)
    scores = gold + np.random.default_rng(seed).normal(size=len(gold))
    np.testing.assert_array_equal(ranked(gold), stats.rankdata(gold))
    if len(set(values)) == 1:
        with pytest.raises(InputError, match=r"^x: "):
            pearson(scores, gold, name="x")
        return
    assert pearson(scores, gold, name="x") == pytest.approx(stats.pearsonr(scores, gold).statistic, abs=1e-12)
    assert spearman(scores, gold, name="x") == pytest.approx(
        stats.spearmanr(scores, gold).statistic, abs=1e-12
    )
    assert pearson(scores * 1e300, gold, name="x") == pytest.approx(pearson(scores, gold, name="x"))


@pytest.mark.parametrize(("scores", "gold"), [
        ([1, 2], [1, 2]), ([1, 2, math.nan], [1, 2, 3]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [2, 2, 2]),
        # The scores differ by the rounding of single precision alone.
        ([1, 1 - 3e-8, 1 - 6e-8], [2, 3, 1]), ([1e4, 1e4 + 5e-3, 1e4], [2, 3, 1]),
        ([0, 1e-6, 5e-7], [2, 3, 1]),
])  # fmt: skip
def test_a_correlation_that_is_none_is_an_error(scores: list[float], gold: list[float]) -> None:
    for measure in (pearson, spearman):
        with pytest.raises(InputError, match=r"^test set: "):
            measure(np.array(scores, float), np.array(gold, float), name="test set")


def test_wilson() -> None:
    for hits, n in ((0, 10), (3, 10), (10, 10)):
        interval = stats.binomtest(hits, n).proportion_ci(method="wilson")
        assert wilson(hits, n) == pytest.approx((interval.low, interval.high), abs=1e-6)


def write(path: Path, *lines: str) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


LABELS = {
    "numbers": ("1", "0", "0.5"), "words": ("true", "False", "TRUE"), "spaces": (" 1 ", "0", "1"),
    "degrees": ("4.2", "0", "-1"),
}  # fmt: skip
VALUES = {"numbers": [1, 0, 0.5], "words": [1, 0, 1], "spaces": [1, 0, 1], "degrees": [4.2, 0, -1]}


@pytest.mark.parametrize("case", LABELS)
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("where", ["column", "file", "csv"])
def test_labels_are_read(case: str, header: bool, where: str, tmp_path: Path) -> None:
    marks = [*(["label"] if header else []), *LABELS[case]]
    rows = [("first", "second"), ("a", "b"), ("c", "d"), ("e", "f")][not header :]
    if where == "file":
        pairs = write(tmp_path / "pairs.txt", *("\t".join(row) for row in rows[header:]))
        read = read_pairs(pairs, labels=write(tmp_path / "labels.txt", *marks))
    elif where == "column":
        lines = ("\t".join((*row, mark)) for row, mark in zip(rows, marks, strict=True))
        read = read_pairs(write(tmp_path / "pairs.txt", *lines), labels=True)
    else:
        lines = (",".join((*row, mark)) for row, mark in zip(rows, marks, strict=True))
        columns = ["first", "second", "label"] if header else ["1", "2", "3"]
        read = read_pairs(Source(write(tmp_path / "pairs.csv", *lines), columns))
    assert (list(read.sources), list(read.targets)) == (["a", "c", "e"], ["b", "d", "f"])
    assert read.labels is not None
    assert read.labels.tolist() == VALUES[case]
    assert read.are_graded == (case in ("numbers", "degrees"))


@pytest.mark.parametrize(
    ("lines", "labels", "place"),
    [
        (["a\tb\t1", "c\td\tx", "e\tf\t0"], True, "pairs.txt:2: "),
        (["a\tb\t1", "c\t \t0", "e\tf\t0"], True, "pairs.txt:2: "),
        (["a\tb\t1", "c\td", "e\tf\t0"], True, "pairs.txt:2: "), (["a\tb", " \td"], False, "pairs.txt:2: "),
        (["a\tb\t1", "c\td\t0"], False, "pairs.txt:1: "), (["a\tb\t1_0", "c\td\t0"], True, "pairs.txt:1: "),
    ],
)  # fmt: skip
def test_a_bad_pair_is_named_or_left_out(lines: list[str], labels: bool, place: str, tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.txt", *lines)
    with pytest.raises(InputError, match=f"^{tmp_path}/{place}"):
        read_pairs(path, labels=labels)
    if len(lines) == 3:
        told: list[BadRow] = []
        read = read_pairs(Source(path, on_bad=told.append), labels=labels)
        assert (list(read.sources), [row.first for row in told]) == (["a", "e"], [2])


@pytest.mark.parametrize(
    ("lines", "marks"),
    [([], None), (["a\tb\t1", "c\td\t1"], None), (["a\tb", "c\td"], ["1"]), (["a\tb"], ["1", "0"]),
    (["a\tb"], ["label", "1", "0"])],
)  # fmt: skip
def test_pairs_that_cannot_be_measured(lines: list[str], marks: list[str] | None, tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.txt", *lines)
    with pytest.raises(InputError, match=r"pairs.txt|labels.txt"):
        read_pairs(path, labels=True if marks is None else write(tmp_path / "labels.txt", *marks))


def test_labels_beside_second_sentences_need_a_file(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.txt", "a", "b"), write(tmp_path / "b.txt", "c", "d")
    with pytest.raises(InputError, match=r"b.txt"):
        read_pairs(Source(first, second=second, texts=2), labels=True)
    read = read_pairs(Source(first, second=second, texts=2), labels=write(tmp_path / "labels.txt", "1", "0"))
    assert read.labels is not None
    assert read.labels.tolist() == [1, 0]


def test_a_large_file_is_sampled(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.txt", *(f"a{number}\tb{number}" for number in range(100)))
    read = read_pairs(path, most=10)
    assert (len(read.sources), read.all_pairs) == (10, 100)
    assert [text[1:] for text in read.sources] == [text[1:] for text in read.targets]
    assert read == read_pairs(path, most=10)
    assert read.digest != read_pairs(path, most=10, seed=1).digest


def test_the_command_says_and_writes_the_figures(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "pairs.tsv", *("\t".join(pair) for pair in PAIRS[:30]))
    words = [
        "evaluate",
        "--model",
        str(folder),
        "en",
        "--pairs",
        "pairs.tsv",
        "--most",
        "20",
        "--output",
        "q.json",
    ]
    assert main(words) == 0
    written = json.loads((tmp_path / "q.json").read_text())
    assert (written["pairs"], written["n"], written["of"]) == ("pairs.tsv", 20, 30)
    assert [entry["model"] for entry in written["models"]] == [str(folder), "en"]
    said = capsys.readouterr().out
    for entry in written["models"]:
        assert f"{entry['label']}: {100 * entry['forward']['nearest']:.1f} %" in said
        assert f"{entry['threshold']:.3f}" in said
    # The figures alone go to standard output.
    assert main([*words[:-1], "-"]) == 0
    assert json.loads(capsys.readouterr().out) == written
