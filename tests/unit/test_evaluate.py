"""Test `paraphrastic evaluate`: retrieval, labels, thresholds, and what takes a threshold from its file."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic.model.folder import open_folder
from paraphrastic.model.shipped import shipped_models
from paraphrastic.model.system import System
from paraphrastic.quality.evaluate_files import evaluate_pairs, open_place
from paraphrastic.quality.labelled_pairs import read_pairs
from paraphrastic.quality.retrieval import PairVectors, wilson
from paraphrastic.quality.thresholds import Thresholds, auc, read_threshold

ROOT = Path(__file__).resolve().parents[2]
TATOEBA = ROOT / "data" / "sample" / "tatoeba"


def toy_system(vectors: dict[str, list[float]]) -> System:
    def embed(sentences: list[str], language: str | None) -> Float32:
        return np.array([vectors[sentence] for sentence in sentences], np.float32)

    return System("toy", 2, "digest of toy", embed)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs of the sample's German and English sentences."""
    sides = [(TATOEBA / f"tatoeba.deu-eng.{code}").read_text("utf-8").splitlines() for code in ("deu", "eng")]
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_text("".join(f"{de}\t{en}\n" for de, en in zip(*sides, strict=True)), "utf-8")
    return path


def test_retrieval_agrees_with_numpy(german: Path) -> None:
    model = open_folder(shipped_models()["en-de-es-fr"])
    rows = [line.split("\t") for line in german.read_text("utf-8").splitlines()]
    x, y = (
        model.embed_raw_text([row[side] for row in rows], normalize=True).astype(np.float64)
        for side in (0, 1)
    )
    cosines = x @ y.T
    output = german.with_name("q.json")
    assert main(["evaluate", "--model", "en-de-es-fr", "--pairs", str(german), "--output", str(output)]) == 0
    (result,) = json.loads(output.read_text())["models"]
    for name, scores in (("forward", cosines), ("backward", cosines.T)):
        order = np.argsort(-scores, axis=1, kind="stable")
        place = np.argmax(order == np.arange(len(rows))[:, None], axis=1)
        assert result[name]["nearest"] == pytest.approx((place == 0).mean())
        assert result[name]["among_10"] == pytest.approx((place < 10).mean())
        assert result[name]["interval"][0] < result[name]["nearest"] < result[name]["interval"][1]


def test_any_partner_of_a_repeated_sentence_is_right() -> None:
    system = toy_system({"a": [1, 0], "b": [0, 1], "x": [1, 0.1], "y": [1, 0.2], "z": [0.1, 1]})
    vectors = PairVectors(system, (["a", "a", "b"], ["x", "y", "z"]), name="pairs")
    forward, backward = vectors.retrieve()
    assert forward.hits.tolist() == [True, True, True]
    assert backward.hits.tolist() == [True, True, True]
    assert forward.found.shape == (3, 3), "there are only three sentences to find"


def test_other_sentences_hide_partners_and_do_not_count() -> None:
    system = toy_system(
        {"a": [1, 0], "b": [0, 1], "x": [1, 0.5], "z": [0, 1], "near": [1, 0.1], "far": [-1, -1]}
    )
    others = (["far"], ["near", "x"])
    vectors = PairVectors(system, (["a", "b"], ["x", "z"]), name="pairs", others=others)
    assert [each.hits.tolist() for each in vectors.retrieve()] == [[True, True], [True, True]]
    forward, backward = vectors.retrieve(among_others=True)
    assert (forward.hits.tolist(), backward.hits.tolist()) == ([False, True], [True, True])
    assert forward.hits_among_nearest.tolist() == [True, True]
    assert [forward.candidates[place] for place in forward.found[0][:2]] == ["near", "x"]


def test_cosines_of_pairs_and_of_sentences_without_a_vector() -> None:
    vectors = PairVectors(
        toy_system({"a": [1, 0], "b": [1, 1], "": [0, 0]}), (["a", "a"], ["b", ""]), name="p"
    )
    np.testing.assert_allclose(vectors.cosines(), [0.5**0.5, 0], atol=1e-7)


@pytest.mark.parametrize(("hits", "n", "low", "high"), [(0, 10, 0.0, 0.277533), (7, 10, 0.396778, 0.892209)])
def test_intervals_of_shares(hits: int, n: int, low: float, high: float) -> None:
    # The figures are those of R: prop.test(hits, n, correct = FALSE).
    assert wilson(hits, n) == pytest.approx((low, high), abs=1e-5)


@pytest.mark.parametrize(
    ("scores", "right", "area"),
    [
        ([0.1, 0.2, 0.3], [0, 1, 1], 1.0),
        ([0.3, 0.2, 0.1], [0, 1, 1], 0.0),
        ([0.5, 0.5, 0.1], [1, 0, 0], 0.75),
    ],
)
def test_area_under_the_curve(scores: list[float], right: list[int], area: float) -> None:
    assert auc(np.array(scores), np.array(right, bool)) == pytest.approx(area)


def brute_thresholds(scores: np.ndarray, right: np.ndarray, wanted: int) -> dict[float, tuple[float, float]]:
    """Precision and F1 at every score, with the threshold at the score itself."""
    found = {}
    for score in np.unique(scores):
        accepted = scores >= score
        hits = int(right[accepted].sum())
        found[float(score)] = (hits / accepted.sum(), 2 * hits / (accepted.sum() + wanted))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_threshold_is_the_best_of_all(seed: int) -> None:
    generator = np.random.default_rng(seed)
    # Few different values make ties.
    scores = generator.integers(0, 8, 30) / 10
    right = generator.random(30) < scores
    right[0] = True
    wanted = int(right.sum()) + seed % 3
    thresholds, every = Thresholds(scores, right, wanted), brute_thresholds(scores, right, wanted)
    assert thresholds.best().f1 == pytest.approx(max(f1 for _, f1 in every.values()))
    able = [score for score, (precision, _) in every.items() if precision >= 0.75]
    with_precision = thresholds.best(0.75)
    if able:
        assert with_precision.precision >= 0.75
        assert (scores >= with_precision.threshold).sum() == (scores >= min(able)).sum()
        # It leaves room on both sides.
        assert with_precision.threshold <= min(able)
    else:
        assert with_precision is None


def test_rows_of_the_table_count_scores_at_the_threshold() -> None:
    thresholds = Thresholds(np.array([0.1, 0.15, 0.2]), np.array([False, True, True]), 4)
    assert [(row.threshold, row.precision, row.recall) for row in thresholds.table()] == [
        (0.1, 2 / 3, 0.5),
        (0.15, 1.0, 0.5),
        (0.2, 1.0, 0.25),
    ]


def test_labels_of_two_kinds(tmp_path: Path) -> None:
    system = toy_system({"a": [1, 0], "b": [0, 1], "c": [1, 1]})
    file = tmp_path / "pairs.tsv"
    file.write_text("a\ta\t1\na\tb\t0\na\tc\t1\nb\tb\t1\n")
    result = evaluate_pairs(system, read_pairs(str(file), labels=True), model="toy")
    assert result["auc"] == 1
    assert 0 < result["threshold"] < 0.5**0.5
    file.write_text("a\ta\t5\na\tb\t0.5\na\tc\t3\nb\tb\t4\n")
    result = evaluate_pairs(system, read_pairs(str(file), labels=True), model="toy")
    # Ranks 3.5, 1, 2, 3.5 with 4, 1, 2, 3.
    assert result["spearman"] == pytest.approx(0.9486833)
    assert "threshold" not in result


def test_search_and_dedup_take_the_threshold(
    german: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quality, kept = tmp_path / "quality.json", tmp_path / "kept.txt"
    found = tmp_path / "found.tsv"
    text = TATOEBA / "tatoeba.deu-eng.eng"
    evaluated = ["evaluate", "--model", "en-de-es-fr", "--pairs", str(german), "--output", str(quality)]
    assert main([*evaluated, "--precision", "0.999"]) == 0
    (result,) = json.loads(quality.read_text())["models"]
    assert result["best"]["precision"] >= 0.999
    chosen = str(result["threshold"])
    assert capsys.readouterr().out.splitlines()[-1].split()[0] == f"{float(chosen):.3f}"
    outputs = []
    model = ["--model", "en-de-es-fr", "--input", str(text)]
    for threshold in (str(quality), chosen):
        vectors = tmp_path / "vectors.npy"
        assert main(["embed", *model, "--output", str(vectors)]) == 0
        search = ["search", *model, "--index", str(vectors), "--output", str(found), "--min-score", threshold]
        assert main(search) == 0
        outputs.append(found.read_text())
    assert outputs[0] == outputs[1]
    # A threshold for the nearest sentence would leave out many lines that only have some words in common.
    dedup = ["dedup", *model, "--output", str(kept), "--threshold"]
    assert main([*dedup, str(quality)]) == 1
    assert "is for the nearest sentence, but here all pairs of sentences" in capsys.readouterr().err
    pairs = [line.split("\t")[:2] for line in german.read_text().splitlines()]
    labelled = [(*pair, "1") for pair in pairs]
    labelled += [(one, other, "0") for (one, _), (_, other) in pairwise(pairs)]
    german.write_text("".join("\t".join(row) + "\n" for row in labelled))
    assert main([*evaluated, "--labels"]) == 0
    (result,) = json.loads(quality.read_text())["models"]
    outputs = []
    for threshold in (str(quality), str(result["threshold"])):
        assert main([*dedup, threshold]) == 0
        outputs.append(kept.read_text())
    assert outputs[0] == outputs[1]
    # Another model's threshold means nothing.
    other = ["dedup", "--model", "en", "--input", str(text), "--output", "-"]
    assert main([*other, "--threshold", str(quality)]) == 1
    assert "has thresholds for Taught P-SP en-de-es-fr, but not for Taught P-SP en" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "is neither a number nor a file"),
        ('{"models": [5]}', "is neither a number nor a file"),
        ('{"models": []}', "has thresholds for no model"),
        ('{"models": [{"digest": "digest of toy", "threshold": true}]}', "has no threshold for toy"),
        ('{"models": [{"digest": "digest of toy", "threshold": 7}]}', "has no threshold for toy"),
    ],
)
def test_files_without_a_threshold_are_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "quality.json"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        read_threshold(file, toy_system({}))


def test_systems_of_every_kind_can_be_named(tmp_path: Path) -> None:
    assert open_place("en") == "en"
    assert open_place("model2vec=some/folder") == {"model2vec": "some/folder", "label": "folder"}
    assert open_place("other=folder") == "other=folder"
