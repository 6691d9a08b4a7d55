"""Test the history of a run, and early stopping by the score of the development data."""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from small_corpus import sentence_pairs, write_training_data
from training_runs import SETTINGS, history, interrupted_at, steps_seen, train_model, write_data

from paraphrastic import load_model
from paraphrastic.base.files import sha256
from paraphrastic.model.files import ModelFiles
from paraphrastic.model.folder import open_files
from paraphrastic_pipeline.settings.sections.training import EarlyStopping
from paraphrastic_pipeline.training.history import HISTORY
from paraphrastic_pipeline.training.inputs import Development

Data = tuple[Path, Path]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_data(tmp_path_factory.mktemp("data"))


class Scores:
    """Returns the given scores one by one, and remembers which parameters each of them was for."""

    def __init__(self, scores: Sequence[float]) -> None:
        self.scores = list(scores)
        self.digests: list[str] = []

    def __call__(self, files: ModelFiles) -> float:
        self.digests.append(open_files(files).digest)
        return self.scores[len(self.digests) - 1]


@pytest.fixture
def development(tmp_path: Path) -> Callable[[Sequence[float]], Development]:
    path = tmp_path / "development"
    path.write_text("development")
    return lambda scores: Development(Scores(scores), [path])


def test_scores_that_are_only_shown_change_nothing(
    data: Data,
    tmp_path: Path,
    development: Callable[[Sequence[float]], Development],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    plain = train_model(data, tmp_path / "plain", SETTINGS)
    scored = train_model(data, tmp_path / "scored", SETTINGS, development=development([50, 70, 60, 55.5]))
    assert sha256(plain) == sha256(scored)
    assert [line["development"] for line in history(scored) if line["epoch"] % 1 == 0] == [50, 70, 60, 55.5]
    lines = [record.getMessage() for record in caplog.records if "development" in record.getMessage()]
    assert [line.split()[-1] for line in lines] == ["50.0", "70.0", "60.0", "55.5"]
    assert lines[3].startswith("epoch 4/4 100 %  M 4  loss ")


@pytest.mark.parametrize(
    ("patience", "every", "scores", "best"),
    [
        (1, 1, [50, 60, 55], 1),
        # An equal score is no improvement.
        (2, 0.5, [50, 60, 60, 59], 1),
        (2, 0.5, [50, 60, 55, 61, 1, 1], 3),
        # All epochs are trained, and the last parameters are not the best ones.
        (9, 1, [5, 9, 3, 1], 1),
        (9, 3, [5, 9], 1),
    ],
)
def test_training_stops_early_and_keeps_the_best_parameters(
    data: Data,
    tmp_path: Path,
    development: Callable[[Sequence[float]], Development],
    patience: int,
    every: float,
    scores: list[float],
    best: int,
) -> None:
    settings = replace(SETTINGS, early_stopping=EarlyStopping(patience=patience, every=every))
    scored = development(scores)
    weights = train_model(data, tmp_path / "model", settings, development=scored)
    digests = scored.score.digests  # type: ignore[attr-defined]
    assert len(digests) == len(scores)
    model = load_model(weights.parent)
    assert model.digest == digests[best]
    assert model.config["training"]["early_stopping"] == {"patience": patience, "every": every}
    lines = [line for line in history(weights) if line["development"] is not None]
    assert [line["development"] for line in lines] == scores
    # Each score is due at a certain time and computed at the end of the next mega-batch.
    for number, line in enumerate(lines[:-1], start=1):
        assert number * every <= line["epoch"] < number * every + 0.3


@pytest.mark.parametrize("step", [20, 50])
def test_the_best_parameters_outlive_a_kill(
    data: Data,
    tmp_path: Path,
    development: Callable[[Sequence[float]], Development],
    step: int,
) -> None:
    settings = replace(SETTINGS, dropout=0.2, early_stopping=EarlyStopping(patience=5, every=0.5))
    scores = [50, 60, 55, 40, 41, 42, 43]
    whole = train_model(data, tmp_path / "whole", settings, development=development(scores))
    output = tmp_path / "killed"
    with interrupted_at(step):
        train_model(data, output, settings, minutes=0, development=development(scores))
    # Only the scores after the checkpoint are still needed.
    lines = (output / HISTORY).read_text().splitlines()
    seen = sum(json.loads(line)["development"] is not None for line in lines)
    assert seen >= 1
    resumed = train_model(data, output, settings, development=development(scores[seen:]))
    assert sha256(resumed) == sha256(whole)
    assert history(resumed) == history(whole)


def test_other_development_data_are_another_run_only_where_they_decide(
    data: Data,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    for settings in (SETTINGS, replace(SETTINGS, early_stopping=EarlyStopping(patience=5, every=1))):
        caplog.clear()
        for content in ("one", "other"):
            (tmp_path / "data").write_text(content)
            scored = Development(lambda files: 50.0, [tmp_path / "data"])
            with interrupted_at(9):
                train_model(data, tmp_path / "model", settings, minutes=0, development=scored)
        assert ("other settings or data" in caplog.text) == (settings.early_stopping is not None)
        assert ("continuing after" in caplog.text) == (settings.early_stopping is None)


def test_the_history_has_about_a_hundred_lines_an_epoch(tmp_path: Path) -> None:
    data = write_training_data(tmp_path, sentence_pairs(200))
    settings = replace(SETTINGS, batch_size=1, megabatch=1, epochs=2)
    weights = train_model(data, tmp_path / "model", settings)
    lines = history(weights)
    # No line begins before the run does.
    speeds = [
        json.loads(line)["pairs_per_second"] for line in (weights.parent / HISTORY).read_text().splitlines()
    ]
    assert len(speeds) == len(lines)
    assert all(0 < speed < 1e8 for speed in speeds)
    assert [line["epoch"] for line in lines] == [round(part / 100, 4) for part in range(1, 201)]
    assert [line["step"] for line in lines] == list(range(2, 401, 2))
    assert {line["megabatch"] for line in lines} == {1}


def test_a_line_has_the_mean_loss_of_the_pairs_since_the_last_one(data: Data, tmp_path: Path) -> None:
    losses: list[float] = []

    def see(_: int, loss: float) -> float:
        # A loss for each pair, so that a batch with fewer pairs counts less.
        losses.extend([loss] * min(32, 500 - len(losses)))
        return loss

    with steps_seen(see):
        lines = history(train_model(data, tmp_path / "model", replace(SETTINGS, epochs=1)))
    assert len(losses) == 500
    assert lines[-1]["epoch"] == 1
    told = 0
    for line in lines:
        pairs = round(500 * line["epoch"])
        assert line["loss"] == pytest.approx(sum(losses[told:pairs]) / (pairs - told), abs=1e-6)
        told = pairs
