"""Test that kills, damage and checkpoints do not change the result of a run."""

import json
import logging
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_corpus import sentence_pairs, write_training_data
from training_runs import SETTINGS, history, stopped, train_model, training_inputs, write_data

from paraphrastic.base.files import sha256
from paraphrastic.training import train
from paraphrastic.training.checkpoint import Checkpoints
from paraphrastic.training.loop import megabatches
from paraphrastic.training.pair_dataset import PairDataset
from paraphrastic.training.settings import EngineName, TrainingSettings

DROPOUT = replace(SETTINGS, dropout=0.3)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize(
    "settings",
    [
        SETTINGS,
        DROPOUT,
        replace(DROPOUT, optimizer="lazy_adam"),
        replace(DROPOUT, optimizer="adamw", weight_decay=0.1),
        replace(DROPOUT, engine="autograd"),
        replace(DROPOUT, epochs=1, soup=3),
        replace(DROPOUT, engine="autograd", epochs=1, soup=3),
        replace(DROPOUT, epochs=1, soup=2, coarser=[100]),
    ],
    ids=["adam", "dropout", "lazy", "adamw", "autograd", "soup", "soup, autograd", "coarser"],
)
@pytest.mark.parametrize("step", [1, 3, 30])
def test_a_run_that_was_stopped_ends_in_the_same_parameters(
    data: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: TrainingSettings,
    step: int,
) -> None:
    whole = train_model(data, tmp_path / "whole", settings)
    found = stopped(data, tmp_path / "stopped", settings, monkeypatch, step=step)
    assert len(found) == {1: 0, 3: 2, 30: 2}[step]
    resumed = train_model(data, tmp_path / "stopped", settings)
    assert sha256(resumed) == sha256(whole)
    assert history(resumed) == history(whole)
    assert sorted(path.name for path in resumed.parent.iterdir()) == [
        "config.json", "model.safetensors", "sentencepiece.model", "training.jsonl"
    ]  # fmt: skip


def test_the_history_has_no_line_twice(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train_model(data, tmp_path / "whole", SETTINGS)
    (_, checkpoint) = stopped(data, tmp_path / "stopped", SETTINGS, monkeypatch, step=45, minutes=1e6)[::-1]
    path = tmp_path / "stopped/checkpoints/training.jsonl"
    # The history has lines from after the checkpoint, and one that was cut off.
    assert json.loads(path.read_text().splitlines()[-1])["step"] > int(checkpoint.stem)
    with path.open("a") as file:
        file.write('{"step": 99')
    assert history(train_model(data, tmp_path / "stopped", SETTINGS)) == history(whole)


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
from paraphrastic.training.train import train_model
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
    named = {"threads": 1, "checkpoint_minutes": 0}
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


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_of_a_damaged_checkpoint_the_one_before_is_used(
    data: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Path], None],
) -> None:
    caplog.set_level(logging.INFO)
    new, old = stopped(data, tmp_path / "model", DROPOUT, monkeypatch, step=30)
    damage(new)
    resumed = train_model(data, tmp_path / "model", DROPOUT)
    assert f"{new}: is damaged and not used: " in caplog.text
    assert f"{old}: continuing after {int(old.stem)} mini-batches" in caplog.text
    assert sha256(resumed) == sha256(train_model(data, tmp_path / "whole", DROPOUT))


def test_with_both_damaged_training_starts_anew(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    found = stopped(data, tmp_path / "model", DROPOUT, monkeypatch, step=30)
    truncated(found[0])
    flipped(0.7)(found[1])
    resumed = train_model(data, tmp_path / "model", DROPOUT)
    for path in found:
        assert f"{path}: is damaged and not used: " in caplog.text
    assert (
        f"{found[0].parent}: there is no checkpoint to continue from, so training starts anew" in caplog.text
    )
    whole = train_model(data, tmp_path / "whole", DROPOUT)
    assert sha256(resumed) == sha256(whole)
    assert history(resumed) == history(whole)


def test_a_checkpoint_of_other_settings_is_not_used_and_gives_way(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    found = stopped(data, tmp_path / "model", SETTINGS, monkeypatch, step=30)
    settings = replace(SETTINGS, learning_rate=0.005)
    own = stopped(data, tmp_path / "model", settings, monkeypatch, step=4)
    for path in found:
        assert f"{path}: was made with other settings or data and is not used" in caplog.text
    assert [int(path.stem) for path in own] == [3, 2]
    assert sha256(train_model(data, tmp_path / "model", settings)) == sha256(
        train_model(data, tmp_path / "whole", settings)
    )


def test_a_checkpoint_of_other_data_is_not_used(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(data, tmp_path / "model", SETTINGS, monkeypatch, step=30)
    (tmp_path / "other").mkdir()
    other = write_training_data(tmp_path / "other", sentence_pairs(300, seed=1))
    assert sha256(train_model(other, tmp_path / "model", SETTINGS)) == sha256(
        train_model(other, tmp_path / "whole", SETTINGS)
    )


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


def test_the_rest_of_an_epoch_is_what_it_would_have_been(tmp_path: Path) -> None:
    # There are three windows, and the first one is not read again.
    settings = replace(SETTINGS, batch_size=500, megabatch_anneal=2, shuffle_window=8192)
    data, _ = write_training_data(tmp_path, sentence_pairs(18_000))
    with PairDataset(data) as pairs:
        whole = list(megabatches(pairs, settings, epoch=1, batches_read=0))
        read = batches = 0
        for number, (mega, _) in enumerate(whole):
            rest = list(megabatches(pairs, settings, epoch=1, pairs_read=read, batches_read=batches))
            for (one, one_size), (other, other_size) in zip(rest, whole[number:], strict=True):
                assert (one.offsets == other.offsets).all()
                assert (one.tokens == other.tokens).all()
                assert one_size == other_size
            read += len(mega) // 2
            batches += -(-len(mega) // 2 // 500)


def test_windows_that_are_skipped_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(SETTINGS, shuffle_window=8192)
    data, _ = write_training_data(tmp_path, sentence_pairs(18_000))
    with PairDataset(data) as pairs:
        read = []
        plain = pairs.read
        monkeypatch.setattr(pairs, "read", lambda *block: read.append(block) or plain(*block))
        next(megabatches(pairs, settings, epoch=0, pairs_read=17_000, batches_read=0))
        assert len(read) == 1
