"""Test that kills, damage and checkpoints do not change the result of a run."""

import json
import logging
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from small_corpus import sentence_pairs, write_training_data
from training_runs import SETTINGS, beyond_limits, history, stopped, train_model, training_inputs, write_data

from paraphrastic.base.files import sha256
from paraphrastic_pipeline.settings.sections.training import EngineName, TrainingSettings
from paraphrastic_pipeline.training import train
from paraphrastic_pipeline.training.checkpoint import Checkpoints
from paraphrastic_pipeline.training.loop import megabatches
from paraphrastic_pipeline.training.pair_dataset import PairDataset

DROPOUT = replace(SETTINGS, dropout=0.3)


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set of three windows of 256 pairs, the last of which is short."""
    monkeypatch.setattr("paraphrastic_pipeline.training.pair_dataset.PAIRS_PER_BLOCK", 128)
    return write_training_data(tmp_path, sentence_pairs(560))[0]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def whole(data: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function that returns the weights of a run with these settings that nothing stopped."""

    @cache
    def trained(settings: TrainingSettings) -> Path:
        return train_model(data, tmp_path_factory.mktemp("whole") / "model", settings)

    return trained


@pytest.mark.parametrize(
    ("settings", "step", "checkpoints"),
    [
        (SETTINGS, 1, 0),
        (SETTINGS, 3, 2),
        (SETTINGS, 30, 2),
        (DROPOUT, 30, 2),
        (replace(DROPOUT, optimizer="lazy_adam"), 30, 2),
        (replace(DROPOUT, optimizer="adamw", weight_decay=0.1), 30, 2),
        (replace(DROPOUT, engine="autograd"), 30, 2),
        (replace(DROPOUT, epochs=1, soup=3), 30, 2),
        (replace(DROPOUT, engine="autograd", epochs=1, soup=3), 30, 2),
        (replace(DROPOUT, epochs=1, soup=2, coarser=(100,)), 30, 2),
    ],
    ids=[
        "begun",
        "first epoch",
        "adam",
        "dropout",
        "lazy",
        "adamw",
        "autograd",
        "soup",
        "soup, autograd",
        "coarser",
    ],
)
def test_a_run_that_was_stopped_ends_in_the_same_parameters(
    data: tuple[Path, Path],
    whole: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: TrainingSettings,
    step: int,
    checkpoints: int,
) -> None:
    found = stopped(data, tmp_path / "stopped", settings, monkeypatch, step=step)
    assert len(found) == checkpoints
    resumed = train_model(data, tmp_path / "stopped", settings)
    assert sha256(resumed) == sha256(whole(settings))
    assert history(resumed) == history(whole(settings))
    assert sorted(path.name for path in resumed.parent.iterdir()) == [
        "config.json", "model.safetensors", "sentencepiece.model", "training.jsonl"
    ]  # fmt: skip


def test_the_history_has_no_line_twice(
    data: tuple[Path, Path], whole: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (_, checkpoint) = stopped(data, tmp_path / "stopped", SETTINGS, monkeypatch, step=45, minutes=1e6)[::-1]
    path = tmp_path / "stopped/checkpoints/training.jsonl"
    # The history has lines from after the checkpoint, and one that was cut off.
    assert json.loads(path.read_text().splitlines()[-1])["step"] > int(checkpoint.stem)
    with path.open("a") as file:
        file.write('{"step": 99')
    assert history(train_model(data, tmp_path / "stopped", SETTINGS)) == history(whole(SETTINGS))


@pytest.mark.parametrize("optimizer", ["adam", "lazy_adam"])
def test_how_often_checkpoints_are_written_changes_no_digit(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, optimizer: Any
) -> None:
    written = []
    save = Checkpoints.save
    monkeypatch.setattr(Checkpoints, "save", lambda *arguments: written.append(save(*arguments)))
    settings = replace(DROPOUT, optimizer=optimizer)
    often = train_model(data, tmp_path / "often", settings, minutes=0)
    n_often = len(written)
    seldom = train_model(data, tmp_path / "seldom", settings, minutes=1e6)
    assert n_often > 20
    # There is one checkpoint after each epoch.
    assert len(written) - n_often == settings.epochs
    assert sha256(often) == sha256(seldom)


_PROCESS = """
import pickle, sys
from pathlib import Path
from paraphrastic_pipeline.training.train import train_model
folder = Path(sys.argv[1])
arguments, named = pickle.loads((folder / "arguments").read_bytes())
train_model(*arguments, **named)
"""


@pytest.mark.slow("kills training many times")
def test_a_process_killed_again_and_again_ends_in_the_same_bytes(
    data: tuple[Path, Path], tmp_path: Path
) -> None:
    settings = replace(DROPOUT, epochs=40)
    whole = train_model(data, tmp_path / "whole", settings, minutes=1e6)
    output = tmp_path / "killed"
    named = {"threads": 1, "watching": train.Watching(checkpoint_minutes=0)}
    (tmp_path / "arguments").write_bytes(pickle.dumps(((training_inputs(data, settings), output), named)))
    moments = random.Random(7)
    reached = []
    for kill in (True, True, True, False):
        process = subprocess.Popen([sys.executable, "-c", _PROCESS, str(tmp_path)])
        if kill:
            start, deadline = newest(output), time.monotonic() + 60
            while newest(output) == start and time.monotonic() < deadline:
                time.sleep(0.001)
            # The kill may hit a mega-batch, the writing of a checkpoint, or the removal of an old one.
            time.sleep(moments.uniform(0, 0.2))
            assert process.poll() is None
            os.kill(process.pid, signal.SIGKILL)
            reached.append(newest(output))
        assert process.wait() == (-signal.SIGKILL if kill else 0)
    assert reached == sorted(set(reached))
    assert sha256(output / "model.safetensors") == sha256(whole)
    assert history(output / "model.safetensors") == history(whole)
    assert not (output / "checkpoints").exists()


def newest(output: Path) -> str:
    return max((path.name for path in (output / "checkpoints").glob("[0-9]*.safetensors")), default="")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(place: float) -> Callable[[Path], None]:
    def flip(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(place * (len(content) - 1))] ^= 0x10
        path.write_bytes(content)

    return flip


def emptied(path: Path) -> None:
    path.write_bytes(b"")


DAMAGES = {
    "truncated": truncated,
    "first byte": flipped(0.0),
    "header": flipped(0.002),
    "middle": flipped(0.5),
    "last byte": flipped(1.0),
    "empty": emptied,
}


@pytest.fixture(scope="module")
def interrupted(data: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was stopped and has two checkpoints."""
    folder = tmp_path_factory.mktemp("interrupted") / "model"
    with pytest.MonkeyPatch.context() as patch:
        assert len(stopped(data, folder, DROPOUT, patch, step=30)) == 2
    return folder


@pytest.fixture
def found(interrupted: Path, tmp_path: Path) -> list[Path]:
    """The checkpoints of such a run in `model`, newest first."""
    shutil.copytree(interrupted, tmp_path / "model")
    return sorted((tmp_path / "model/checkpoints").glob("*.safetensors"), reverse=True)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_of_a_damaged_checkpoint_the_one_before_is_used(
    data: tuple[Path, Path],
    whole: Callable[..., Path],
    found: list[Path],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Path], None],
) -> None:
    caplog.set_level(logging.INFO)
    new, old = found
    damage(new)
    resumed = train_model(data, tmp_path / "model", DROPOUT)
    assert f"{new}: is damaged and not used: " in caplog.text
    assert f"{old}: continuing after {int(old.stem)} mini-batches" in caplog.text
    assert sha256(resumed) == sha256(whole(DROPOUT))


def test_with_both_damaged_training_starts_anew(
    data: tuple[Path, Path],
    whole: Callable[..., Path],
    found: list[Path],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    truncated(found[0])
    flipped(0.7)(found[1])
    resumed = train_model(data, tmp_path / "model", DROPOUT)
    for path in found:
        assert f"{path}: is damaged and not used: " in caplog.text
    assert (
        f"{found[0].parent}: there is no checkpoint to continue from, so training starts anew" in caplog.text
    )
    assert sha256(resumed) == sha256(whole(DROPOUT))
    assert history(resumed) == history(whole(DROPOUT))


def test_a_checkpoint_of_other_settings_is_not_used_and_gives_way(
    data: tuple[Path, Path],
    found: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    settings = replace(DROPOUT, learning_rate=0.005)
    own = stopped(data, tmp_path / "model", settings, monkeypatch, step=4)
    for path in found:
        assert f"{path}: was made with other settings or data and is not used" in caplog.text
    assert [int(path.stem) for path in own] == [3, 2]
    assert sha256(train_model(data, tmp_path / "model", settings)) == sha256(
        train_model(data, tmp_path / "whole", settings)
    )


def test_a_checkpoint_of_other_data_is_not_used(
    found: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    (tmp_path / "other").mkdir()
    other = write_training_data(tmp_path / "other", sentence_pairs(300, seed=1))
    assert sha256(train_model(other, tmp_path / "model", DROPOUT)) == sha256(
        train_model(other, tmp_path / "whole", DROPOUT)
    )
    for path in found:
        assert f"{path}: was made with other settings or data and is not used" in caplog.text


@pytest.mark.parametrize(("engine", "used"), [("fused", True), ("autograd", False)])
def test_threads_count_only_where_they_change_the_digits(
    data: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    engine: EngineName,
    used: bool,
) -> None:
    caplog.set_level(logging.INFO)
    settings = replace(SETTINGS, engine=engine)
    stopped(data, tmp_path / "model", settings, monkeypatch, step=30)
    train.train_model(training_inputs(data, settings), tmp_path / "model", threads=2)
    assert ("continuing after" in caplog.text) == used
    assert ("other settings or data" in caplog.text) != used


def test_the_rest_of_an_epoch_is_what_it_would_have_been(windows: Path) -> None:
    settings = beyond_limits(SETTINGS, batch_size=50, megabatch_anneal=2, shuffle_window=256)
    with PairDataset(windows) as pairs:
        whole = list(megabatches(pairs, settings, epoch=1, batches_read=0))
        read = batches = 0
        for number, (mega, _) in enumerate(whole):
            rest = list(megabatches(pairs, settings, epoch=1, pairs_read=read, batches_read=batches))
            for (one, one_size), (other, other_size) in zip(rest, whole[number:], strict=True):
                assert (one.offsets == other.offsets).all()
                assert (one.tokens == other.tokens).all()
                assert one_size == other_size
            read += len(mega) // 2
            batches += -(-len(mega) // 2 // 50)


def test_windows_that_are_skipped_are_not_read(windows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = beyond_limits(SETTINGS, shuffle_window=256)
    with PairDataset(windows) as pairs:
        read = []
        plain = pairs.read
        monkeypatch.setattr(pairs, "read", lambda *block: read.append(block) or plain(*block))
        next(megabatches(pairs, settings, epoch=0, pairs_read=530, batches_read=0))
        assert len(read) == 1
