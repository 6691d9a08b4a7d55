"""Test the benchmark of trainings: scores, times, StaticEmbedding's data, the table and the picture."""

import csv
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import comparison
import curves as of_trainings
import pandas as pd
import pytest
import static_embedding
from comparison_figure import plot_comparison
from curves import (
    OWN,
    PAPER,
    STATIC_EMBEDDING,
    Point,
    read_curve,
    tabulate_comparison,
    write_curve,
    write_curve_of_run,
)
from small_corpus import PAIRS, write_pairs, write_training_data
from static_embedding import Pairs, StaticSettings, train_static_embedding
from training_runs import CONFIG, SETTINGS, history, train_model, training_inputs

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, sha256, write_json
from paraphrastic.interop.tokenizer import tokenizer_json
from paraphrastic.model.folder import open_folder
from paraphrastic.model.vocabulary import read_model_proto
from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.evaluation.development import average_of_vectors, average_score
from paraphrastic_pipeline.evaluation.sts_data import prepare_sts
from paraphrastic_pipeline.settings.definitions import RECIPES
from paraphrastic_pipeline.settings.sections.training import EarlyStopping
from paraphrastic_pipeline.training import beginning, loop, train
from paraphrastic_pipeline.training.development import Development
from paraphrastic_pipeline.training.pair_dataset import PairDataset

ROOT = Path(__file__).resolve().parents[2]
SCORE_SECONDS = 1_000_000
# Settings in which the comparison's paper recipe differs.
PAPER_RECIPE = {"init": "random", "max_negative_share": None, **RECIPES["paper"]}


class Clock:
    """Stands for `time`: a look at it takes a second, and a score many."""

    def __init__(self) -> None:
        self.now = 0

    def monotonic(self) -> float:
        self.now += 1
        return self.now

    def score(self, *_: Any) -> float:
        self.now += SCORE_SECONDS
        return 50.0


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_training_data(tmp_path_factory.mktemp("data"), PAIRS, size=300)


@pytest.fixture(scope="module")
def testsets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first pairs of each test set of the sample."""
    path = tmp_path_factory.mktemp("testsets") / "sts.parquet"
    prepare_sts(ROOT / "data/sample/STS.zip", path)
    pd.read_parquet(path).query("line <= 12").to_parquet(path)
    return path


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (loop, train, static_embedding):
        monkeypatch.setattr(module, "time", clock)
    return clock


def trained(data: tuple[Path, Path], testsets: Path, output: Path, **changes: Any) -> list[Point]:
    """Train StaticEmbedding on the pairs of the data set, and return its curve."""
    settings = StaticSettings(
        **{"dimension": 16, "epochs": 4, "points": 8, "max_pieces": 100, "seed": 1, **changes}
    )
    pairs = Pairs.read(data[0].with_name("pairs.parquet"))
    train_static_embedding(pairs, data[1], testsets, output, config=CONFIG, settings=settings, threads=1)
    return read_curve(output)


def test_scores_are_as_far_apart_as_asked_and_take_no_time(
    data: tuple[Path, Path], tmp_path: Path, clock: Clock
) -> None:
    settings = replace(SETTINGS, megabatch=1)
    scored = Development(clock.score, [data[1]], every=0.5)
    weights = train_model(data, tmp_path / "model", settings, development=scored)
    lines = [line for line in history(weights) if line["development"] is not None]
    assert len(lines) == 8
    for number, line in enumerate(lines, start=1):
        # A score is due at a certain time and computed after the next mini-batch of 32 of the 300 pairs.
        assert number / 2 <= line["epoch"] < number / 2 + 32 / 300
    write_curve_of_run(weights.parent, tmp_path / "curve.csv", threads=3)
    points = read_curve(tmp_path / "curve.csv")
    assert [point.pairs for point in points] == [round(line["epoch"] * 300) for line in lines]
    assert points[-1].pairs == 4 * 300
    assert 0 < points[0].seconds < points[-1].seconds < SCORE_SECONDS
    assert {(row["dim"], row["threads"]) for row in read_csv(tmp_path / "curve.csv")} == {("16", "3")}


def test_early_stopping_says_itself_how_often_it_scores(
    data: tuple[Path, Path], tmp_path: Path, clock: Clock
) -> None:
    settings = replace(SETTINGS, early_stopping=EarlyStopping(patience=9, every=2))
    scored = Development(clock.score, [data[1]], every=0.5)
    weights = train_model(data, tmp_path / "model", settings, development=scored)
    assert sum(line["development"] is not None for line in history(weights)) == 2


def test_the_beginning_counts_as_time_of_training(
    data: tuple[Path, Path], tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = beginning.initial_encoder

    def slow(*arguments: Any) -> Any:
        clock.now += 5000
        return plain(*arguments)

    monkeypatch.setattr(beginning, "initial_encoder", slow)
    scored = Development(clock.score, [data[1]])
    weights = train_model(data, tmp_path / "model", replace(SETTINGS, epochs=1), development=scored)
    write_curve_of_run(weights.parent, tmp_path / "curve.csv", threads=1)
    assert 5000 < read_curve(tmp_path / "curve.csv")[-1].seconds < SCORE_SECONDS


def test_the_score_in_training_is_that_of_the_model(
    data: tuple[Path, Path], testsets: Path, tmp_path: Path
) -> None:
    scored = Development(comparison.scored_on(testsets), [testsets])
    weights = train_model(data, tmp_path / "model", SETTINGS, development=scored)
    model = open_folder(weights.parent)
    score = average_score(model, testsets)
    assert history(weights)[-1]["development"] == pytest.approx(score, abs=1e-5)
    assert average_of_vectors(model.embed_raw_text, testsets) == score


def test_kernels_are_compiled_on_a_copy_of_the_first_pairs(
    data: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "_FEW", 40)
    before, files = sha256(data[0]), sorted(data[0].parent.iterdir())
    with comparison.few_pairs(training_inputs(data, SETTINGS)) as few:
        with PairDataset(few.dataset) as copy, PairDataset(data[0]) as dataset:
            assert len(copy) == 40
            for some, all_of_them in zip(copy.read(0, 40), dataset.read(0, 40), strict=True):
                assert some.tokens.tolist() == all_of_them.tokens.tolist()
        train.train_model(few, few.dataset.parent / "model", threads=1)
    assert (sha256(data[0]), sorted(data[0].parent.iterdir())) == (before, files)
    assert not few.dataset.parent.exists()


def test_static_embedding_is_scored_as_often_and_learns(
    data: tuple[Path, Path], testsets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_embedding, "BATCH_SIZE", 30)
    curve = trained(data, testsets, tmp_path / "curve.csv")
    assert len(curve) == 8
    for number, point in enumerate(curve, start=1):
        assert number * 150 <= point.pairs < number * 150 + 30
    assert curve[-1].pairs == 4 * 300
    same, other = (
        trained(data, testsets, tmp_path / "last.csv", points=1, seed=seed)[-1].sts for seed in (1, 2)
    )
    assert same == curve[-1].sts != other
    # Two points may have the same score in two digits.
    assert len({point.sts for point in curve}) > 4


def test_scores_of_static_embedding_take_no_time(
    data: tuple[Path, Path], testsets: Path, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_embedding, "BATCH_SIZE", 30)
    monkeypatch.setattr(static_embedding, "average_of_vectors", clock.score)
    curve = trained(data, testsets, tmp_path / "curve.csv")
    # There are ten batches in each of the four epochs; making one takes a second here, and so does a step.
    assert curve[-1].seconds_of_batches == 40
    assert curve[-1].seconds == 41


def begun(data: tuple[Path, Path], **changes: Any) -> static_embedding._Training:
    tokenizer = tokenizer_json(read_model_proto(data[1].read_bytes()), CONFIG)
    settings = StaticSettings(
        **{"dimension": 4, "epochs": 2, "points": 1, "max_pieces": None, "seed": 1, **changes}
    )
    pairs = Pairs.read(data[0].with_name("pairs.parquet"))
    return static_embedding._Training(pairs, settings, tokenizer=tokenizer, threads=1)


def test_static_embedding_reads_the_same_pairs_in_the_same_pieces(
    data: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_embedding, "BATCH_SIZE", 30)

    def sentences(features: Any) -> list[tuple[int, ...]]:
        ids, starts = features["input_ids"].tolist(), features["offsets"].tolist()
        return [tuple(ids[start:stop]) for start, stop in zip(starts, [*starts[1:], len(ids)], strict=True)]

    with PairDataset(data[0]) as dataset:
        (unit,) = dataset.units
        sides = dataset.read(0, len(dataset))
        cut = [
            [
                tuple(unit.pieces[side.tokens[start:stop]].tolist())
                for start, stop in zip(side.offsets[:-1], side.offsets[1:], strict=True)
            ]
            for side in sides
        ]
    training = begun(data)
    batches = [list(zip(*map(sentences, batch), strict=True)) for batch in training.batches()]
    expected = sorted(zip(*cut, strict=True))
    for epoch in (batches[: len(batches) // 2], batches[len(batches) // 2 :]):
        assert sorted(pair for batch in epoch for pair in batch) == expected
    assert batches[0] != batches[len(batches) // 2]
    assert {len(piece) for pair in expected for piece in pair} != {3}
    short = next(begun(data, max_pieces=3).batches())
    assert {len(pieces) for side in short for pieces in sentences(side)} == {3}


def test_no_sentence_is_twice_in_a_batch_of_static_embedding(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_embedding, "BATCH_SIZE", 40)
    twice = [*PAIRS[:60], *PAIRS[:60]]
    write_pairs(tmp_path / "pairs.parquet", twice)
    training = begun((tmp_path / "train.h5", data[1]))
    for rows in training.sampler:
        batch = [twice[row][0] for row in rows]
        assert len(set(batch)) == len(batch)


def test_the_learning_rate_rises_in_a_tenth_of_the_steps_and_falls_to_zero(
    data: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_embedding, "BATCH_SIZE", 15)
    training = begun(data)
    rates = []
    for batch in training.batches():
        training.step(batch)
        rates.append(training.optimizer.param_groups[0]["lr"])
    assert len(rates) == 40
    assert rates[3] == max(rates) == pytest.approx(0.2)
    assert rates[0] < rates[1] < rates[2] < rates[3] > rates[4]
    assert rates[-1] == 0


@pytest.mark.parametrize("precision", [False, True])
def test_static_embedding_learns_in_either_precision(
    precision: bool, data: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_embedding, "has_bfloat16_products", lambda: precision)
    training = begun(data)
    (table,) = training.model.parameters()
    before = table.detach().clone()
    training.step(next(training.batches()))
    training.step(next(training.batches()))
    assert table.isfinite().all()
    assert not table.equal(before)


def test_what_the_processor_offers_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for features in ({}, {"avx512bf16": False}, {"avx512bf16": True}, {"amx-bf16": True}):
        binding = SimpleNamespace(get_host_cpu_features=lambda features=features: features)
        monkeypatch.setattr(static_embedding, "llvmlite", SimpleNamespace(binding=binding))
        assert static_embedding.has_bfloat16_products() == any(features.values())


def test_faults_of_static_embedding_are_one_line(
    data: tuple[Path, Path], testsets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none").mkdir()
    pairs = pd.DataFrame({"source": [], "target": []}, dtype=str)
    pairs.to_parquet(tmp_path / "none/pairs.parquet")
    with pytest.raises(InputError, match=r"none/pairs\.parquet: contains no pairs"):
        Pairs.read(tmp_path / "none/pairs.parquet")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError) as caught:
        trained(data, testsets, tmp_path / "curve.csv")
    assert str(caught.value).startswith(
        "StaticEmbedding: needs sentence-transformers, which is not installed"
    )
    assert not (tmp_path / "curve.csv").exists()


def curves(folder: Path) -> dict[str, Path]:
    """Write three curves in which the model's own settings are the fastest and best."""
    points = {
        STATIC_EMBEDDING: [(100, 10, 4, 60.0), (200, 20, 8, 70.0)],
        PAPER: [(100, 3, 0, 40.0), (200, 6, 0, 50.0)],
        OWN: [(100, 6, 0, 71.0), (200, 12.5, 0, 75.25)],
    }
    for name, each in points.items():
        curve = [Point(pairs=n, seconds=s, seconds_of_batches=b, sts=sts) for n, s, b, sts in each]
        write_curve(curve, folder / f"{name}.csv", dim=300, threads=2)
    return {name: folder / f"{name}.csv" for name in points}


def test_the_table_has_the_time_to_a_score_and_the_score_at_a_time(tmp_path: Path) -> None:
    tabulate_comparison(tmp_path / "table.csv", **curves(tmp_path))
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        list(of_trainings.COMPARISON_COLUMNS),
        ["StaticEmbedding of sentence-transformers", "300", "2", "200", "20.0", "70.0", "20.0", "60.0"],
        ["StaticEmbedding, with the making of batches", "300", "2", "200", "28.0", "70.0", "28.0", ""],
        ["paraphrastic, recipe: paper", "300", "2", "200", "6.0", "50.0", "", "50.0"],
        ["paraphrastic, the model's own settings", "300", "2", "200", "12.5", "75.2", "6.0", "75.2"],
    ]


def test_the_picture_has_a_curve_for_each_training(tmp_path: Path) -> None:
    outputs = [tmp_path / "comparison.svg", tmp_path / "comparison.png"]
    plot_comparison(outputs, **curves(tmp_path))
    texts = ["".join(each.itertext()).strip() for each in ElementTree.parse(outputs[0]).iter()]
    assert {*of_trainings.LABELS.values(), of_trainings.WITH_BATCHES, "pairs read, in millions"} <= set(texts)
    assert not any("mathdefault" in text for text in texts)
    first = outputs[0].read_bytes()
    plot_comparison(outputs, **curves(tmp_path))
    assert outputs[0].read_bytes() == first
    assert outputs[1].stat().st_size > 10_000


def test_a_run_without_scores_and_a_damaged_curve_are_one_line(tmp_path: Path) -> None:
    write_json(tmp_path / "config.json", {"pairs": 300, "training": {"dimension": 16}})
    (tmp_path / "training.jsonl").write_text('{"epoch": 1.0, "seconds": 2.0, "development": null}\n')
    with pytest.raises(InputError, match=r"training\.jsonl: has no scores; the log of the training says why"):
        write_curve_of_run(tmp_path, tmp_path / "curve.csv", threads=1)
    for content, message in (
        ("dim,threads\n1,2\n", "is not a curve of a training: KeyError"),
        ("pairs,seconds,seconds_of_batches,sts\nx,1,1,1\n", "is not a curve of a training: ValueError"),
        ("pairs,seconds,seconds_of_batches,sts\n", "contains no points"),
    ):
        (tmp_path / "curve.csv").write_text(content)
        with pytest.raises(InputError, match=rf"curve\.csv: {message}"):
            read_curve(tmp_path / "curve.csv")


@pytest.fixture(scope="module")
def model(data: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that was trained on the pairs of the data set."""
    folder = tmp_path_factory.mktemp("models") / "de"
    train_model(data, folder, replace(SETTINGS, epochs=1))
    return folder


def compared(monkeypatch: pytest.MonkeyPatch, model: Path, data: Path, *options: str) -> None:
    """Run the command on a model and the folder of its data."""
    command = ["comparison.py", "--model", str(model), "--threads", "1"]
    command += ["--pairs", str(data / "pairs.parquet"), "--dataset", str(data / "train.h5")]
    monkeypatch.setattr(sys, "argv", [*command, *options])
    comparison.main()


def test_three_trainings_of_one_model(
    data: tuple[Path, Path], model: Path, testsets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--testsets", str(testsets), "--epochs", "2", "--points", "4", "--output", str(tmp_path)]
    monkeypatch.setattr(static_embedding, "BATCH_SIZE", 30)
    compared(monkeypatch, model, data[0].parent, *options)
    rows = read_csv(tmp_path / "comparison.csv")
    assert len(rows) == 4
    assert {(row["dim"], row["threads"], row["pairs_read"]) for row in rows} == {("16", "1", "600")}
    for name in (OWN, PAPER, STATIC_EMBEDDING):
        assert len(read_curve(tmp_path / f"{name}.csv")) == 4
    trainings = [read_json(tmp_path / name / "config.json")["training"] for name in (OWN, PAPER)]
    given = read_json(model / "config.json")["training"]
    assert trainings[0] == {**given, "epochs": 2}
    assert trainings[1] == {**trainings[0], **PAPER_RECIPE, "epochs": 2} != trainings[0]
    assert (tmp_path / "comparison.png").stat().st_size > 10_000


def test_a_model_trains_as_often_as_static_embedding(model: Path) -> None:
    several = {
        "soup": 3,
        "coarser": [10],
        "trained_dimension": 32,
        "early_stopping": {"patience": 3, "every": 1},
    }
    config = read_json(model / "config.json")
    opened = open_folder(model)
    opened.config = {**config, "training": {**config["training"], **several, "device": "cuda", "epochs": 7}}
    own = comparison.own_settings(opened, None)
    assert (own.soup, own.coarser, own.trained_dimension, own.early_stopping) == (1, (), None, None)
    assert (own.epochs, own.device, own.dimension, own.table_dimension) == (7, "cpu", 16, 16)
    assert comparison.own_settings(opened, 2).epochs == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"languages": ["fr"]}, "does not know English, the language of STS 2012–2016"),
        ({"unit": "trigram"}, "is TRIGRAM de; StaticEmbedding can be compared only with one average of"),
        ({"training": {"epochs": 0}}, "is not trained at all by its config.json"),
        ({"training": {"epochs": 1, "distil": "x"}}, "learns from a teacher, so its training cannot be"),
        ({"training": {"epochs": 1, "initial_vectors": "x"}}, "begins with word vectors, so its training"),
    ],
)
def test_a_model_that_cannot_be_compared_is_refused(
    changes: dict[str, Any], message: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model, tmp_path / "de")
    write_json(tmp_path / "de/config.json", {**read_json(model / "config.json"), **changes})
    with pytest.raises(SystemExit) as caught:
        compared(monkeypatch, tmp_path / "de", tmp_path)
    assert str(caught.value).startswith(f"comparison.py: error: {tmp_path}/de: {message}")


def test_files_of_different_pairs_are_refused(
    data: tuple[Path, Path], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pairs(tmp_path / "pairs.parquet", PAIRS[:70])
    shutil.copyfile(data[0], tmp_path / "train.h5")
    with pytest.raises(SystemExit, match=r"train\.h5: has 300 pairs, but .*pairs\.parquet 70$"):
        compared(monkeypatch, model, tmp_path)
