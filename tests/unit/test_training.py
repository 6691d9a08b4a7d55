"""Test that the training loop is exact, also after kills, and behaves as defined at its limits."""

import logging
import random
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
import torch
from pair_files import write_pairs
from safetensors.numpy import load_file
from small_corpus import sentence_pairs, write_training_data
from test_dataset import listed
from training_runs import (
    SETTINGS,
    beyond_limits,
    history,
    interrupted_at,
    steps_seen,
    train_model,
    training_inputs,
    write_data,
)

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic.model.architecture import Architecture
from paraphrastic.model.vocabulary import UNSEEN
from paraphrastic_pipeline.settings.sections.training import EngineName, TrainingSettings
from paraphrastic_pipeline.training import initialization, train
from paraphrastic_pipeline.training.checkpoint import Progress
from paraphrastic_pipeline.training.dataset import encode_dataset
from paraphrastic_pipeline.training.encoder_modules import AveragedEmbeddings
from paraphrastic_pipeline.training.loop import megabatch_size, megabatches
from paraphrastic_pipeline.training.model_selection import average_runs
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.sentences import Sentences

DROPOUT = replace(SETTINGS, dropout=0.3)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_training_data(tmp_path_factory.mktemp("data"), sentence_pairs(500))


@pytest.fixture(scope="module")
def rare_words(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def whole(rare_words: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function that returns the weights of a run with these settings that nothing stopped."""

    @cache
    def trained(settings: TrainingSettings) -> Path:
        return train_model(rare_words, tmp_path_factory.mktemp("whole") / "model", settings)

    return trained


def epoch_of(pairs: PairDataset, settings: TrainingSettings, **progress: int) -> list[tuple[Sentences, int]]:
    return list(megabatches(pairs, settings, Progress(**progress)))


@pytest.mark.parametrize("negatives", ["other_side", "either_side"])
def test_parameters_and_losses_are_those_of_the_plain_reference(
    data: tuple[Path, Path], tmp_path: Path, negatives: Any
) -> None:
    settings, losses = replace(SETTINGS, epochs=2, negatives=negatives), list[float]()
    with steps_seen(lambda _, loss: losses.append(loss) or loss):
        weights = train_model(data, tmp_path / "model", settings)
    with PairDataset(data[0]) as pairs:
        batches, read = [], 0
        for epoch in range(settings.epochs):
            batches.append([])
            for mega, _ in epoch_of(pairs, settings, epoch=epoch, batches_read=read):
                n = len(mega) // 2
                source, target = listed(mega)[:n], listed(mega)[n:]
                starts = range(0, n, SETTINGS.batch_size)
                batches[-1] += [
                    (source[i:][: SETTINGS.batch_size], target[i:][: SETTINGS.batch_size]) for i in starts
                ]
                read += len(starts)
        table = AveragedEmbeddings(pairs.units[0].n_rows, 16, init_std=1.0, seed=SETTINGS.seed).table.detach()
        expected = reference.train(
            batches, table, margin=0.4, learning_rate=0.03, megabatch=4, anneal=5,
            either_side=negatives == "either_side",
        )  # fmt: skip
        np.testing.assert_allclose(losses, expected, atol=1e-4)
        assert losses[-1] < 0.75 * losses[0]
        (met,) = (counts[:-1] > 0 for counts in pairs.counts())
        trained = load_model(weights.parent).embeddings[pairs.units[0].pieces]
        np.testing.assert_allclose(trained[met], table.detach()[:-1][met], atol=1e-3)
        # Pieces that the data lack keep their random rows, only shorter.
        assert not met.all()
        np.testing.assert_allclose(trained[~met], UNSEEN * table.detach()[:-1][~met], atol=1e-6)


def test_megabatch_is_annealed_and_only_the_last_batch_of_an_epoch_is_short(data: tuple[Path, Path]) -> None:
    assert [megabatch_size(read, SETTINGS) for read in (0, 4, 5, 9, 10, 15, 500)] == [1, 1, 2, 2, 3, 4, 4]
    whole_at_once = replace(SETTINGS, megabatch_anneal=0)
    with PairDataset(data[0]) as pairs:
        epoch, other = epoch_of(pairs, SETTINGS), epoch_of(pairs, whole_at_once)
    # 500 pairs make 15 mini-batches of 32 and one of 20. M is 1 for the first 5, then 2, and so on.
    assert [len(mega) // 2 for mega, _ in epoch] == [32] * 5 + [64] * 3 + [96, 500 - 32 * 14]
    assert [size for _, size in epoch] == [1] * 5 + [2] * 3 + [3, 3]
    assert [(len(mega) // 2, size) for mega, size in other] == [(128, 4)] * 3 + [(116, 4)]


@pytest.mark.parametrize("batch_size", [32, 50, 100, 500, 1000])
@pytest.mark.parametrize("megabatch", [4, 1000])
def test_no_batch_is_empty(data: tuple[Path, Path], batch_size: int, megabatch: int) -> None:
    settings = replace(SETTINGS, batch_size=batch_size, megabatch=megabatch, megabatch_anneal=1)
    with PairDataset(data[0]) as pairs:
        sizes = [len(mega) // 2 for mega, _ in epoch_of(pairs, settings)]
    assert sum(sizes) == 500
    assert min(sizes) > 0
    # A batch that is larger than the data contains all pairs.
    assert batch_size < 500 or sizes == [500]


def test_the_rest_of_an_epoch_is_what_it_would_have_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three windows of 256 pairs, the last of which is short.
    monkeypatch.setattr("paraphrastic_pipeline.training.pair_dataset.PAIRS_PER_BLOCK", 128)
    settings = beyond_limits(SETTINGS, batch_size=50, megabatch_anneal=2, shuffle_window=256)
    with PairDataset(write_training_data(tmp_path, sentence_pairs(560))[0]) as pairs:
        whole = epoch_of(pairs, settings, epoch=1)
        read = batches = 0
        for number, (mega, _) in enumerate(whole):
            rest = epoch_of(pairs, settings, epoch=1, pairs_read=read, batches_read=batches)
            for (one, one_size), (other, other_size) in zip(rest, whole[number:], strict=True):
                assert (one.offsets == other.offsets).all()
                assert (one.tokens == other.tokens).all()
                assert one_size == other_size
            read += len(mega) // 2
            batches += -(-len(mega) // 2 // 50)


@pytest.mark.parametrize("engine", ["fused", "autograd"])
def test_a_soup_is_the_mean_of_trainings_from_one_beginning(
    engine: EngineName, data: tuple[Path, Path], tmp_path: Path
) -> None:
    settings = replace(SETTINGS, engine=engine, epochs=2, dropout=0.2)
    folders = [tmp_path / str(member) for member in range(3)]
    for member, folder in enumerate(folders):
        train_model(data, folder, replace(settings, member=member))
    average_runs([folder / "model.safetensors" for folder in folders], tmp_path / "soup/model.safetensors")
    tables = [load_file(folder / "model.safetensors")["embeddings"] for folder in folders]
    np.testing.assert_allclose(load_model(tmp_path / "soup").embeddings, np.mean(tables, axis=0), atol=1e-6)
    begun = initialization.untrained_model(training_inputs(data, settings)).tensors["embeddings"]
    # All of them stay nearer to their beginning than two random tables are to each other.
    moved = [np.linalg.norm(table - begun) for table in tables]
    apart = [np.linalg.norm(tables[0] - table) for table in tables[1:]]
    assert min(apart) > 0.1 * min(moved)
    assert max(moved) < np.linalg.norm(begun)


@pytest.mark.parametrize("loss", [np.nan, np.inf])
def test_a_loss_that_is_not_finite_stops_the_run(
    data: tuple[Path, Path], tmp_path: Path, loss: float
) -> None:
    cause = r"^\S+train\.h5: .*epoch 2, mini-batch 4.*training\.learning_rate"
    with (
        steps_seen(lambda step, plain: loss if step == 20 else plain),
        pytest.raises(InputError, match=cause),
    ):
        train_model(data, tmp_path / "model", SETTINGS)
    assert not (tmp_path / "model" / "model.safetensors").exists()


def test_no_pairs_are_no_training_data(data: tuple[Path, Path], tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.parquet", [])
    units = [{"unit": "subword", "models": (data[1],), "max_pieces": 100}]
    encode_dataset(pairs, units, tmp_path / "train.h5", threads=1)
    with pytest.raises(InputError, match=r"train\.h5: contains no pairs"):
        train_model((tmp_path / "train.h5", data[1]), tmp_path / "model", SETTINGS)


@pytest.mark.parametrize("engine", ["fused", "autograd"])
@pytest.mark.parametrize(
    ("copies", "change"), [(1, {}), (90, {"exclude_duplicates": True, "negatives": "either_side"})]
)
def test_from_one_pair_and_its_copies_nothing_is_learned(
    tmp_path: Path, engine: Any, copies: int, change: dict[str, Any]
) -> None:
    pairs = [("the dog sees the cat", "der hund sieht die katze")] * copies
    data, settings = write_training_data(tmp_path, pairs, size=40), replace(SETTINGS, engine=engine, **change)
    model = load_model(train_model(data, tmp_path / "model", settings).parent)
    untrained = initialization.untrained_model(training_inputs(data, settings))
    assert (model.embeddings == untrained.tensors["embeddings"]).all()


def test_dropout_keeps_the_expected_vector_and_is_off_outside_of_training(data: tuple[Path, Path]) -> None:
    with PairDataset(data[0]) as pairs:
        sentences, _ = pairs.read(0, 4)
        encoder = AveragedEmbeddings(pairs.units[0].n_rows, 16, init_std=1.0, seed=1, dropout=0.3)
    torch.manual_seed(0)
    with torch.no_grad():
        dropped = torch.stack([encoder.train()(sentences) for _ in range(4000)])
        clean = encoder.eval()(sentences)
    assert (dropped[0] != dropped[1]).any()
    np.testing.assert_allclose(dropped.mean(dim=0), clean, atol=0.05)


def test_frequent_pieces_begin_smaller(data: tuple[Path, Path]) -> None:
    with PairDataset(data[0]) as pairs:
        tokens = np.concatenate([side.tokens for side in pairs.read(0, len(pairs))])
        occurrences = np.array([(tokens == row).sum() for row in range(pairs.units[0].n_rows)])
        pieces = pairs.units[0].pieces
    plain, scaled = (
        initialization.untrained_model(training_inputs(data, replace(SETTINGS, init_sif=a))).tensors
        for a in (None, 0.01)
    )
    expected = 0.01 / (0.01 + occurrences / len(tokens))
    ratio = scaled["embeddings"][pieces] / plain["embeddings"][pieces]
    np.testing.assert_allclose(ratio, np.broadcast_to(expected[:-1, None], ratio.shape), rtol=1e-5)
    assert expected.max() > 1.5 * expected.min()


@pytest.mark.parametrize(("megabatch", "grows"), [(13, False), (14, True)])
def test_a_megabatch_that_is_never_reached_is_told(
    data: tuple[Path, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture, megabatch: int, grows: bool
) -> None:
    # An epoch of 500 pairs has 16 mini-batches of 32, and M grows by one every five.
    train_model(data, tmp_path / "model", replace(SETTINGS, megabatch=megabatch))
    assert ("M grows only to 13 instead of 14" in caplog.text) == grows


@pytest.mark.parametrize(
    ("settings", "step", "minutes"),
    [
        (SETTINGS, 1, 0),
        (SETTINGS, 3, 0),
        (SETTINGS, 30, 0),
        (SETTINGS, 45, 60),
        (DROPOUT, 30, 0),
        (replace(DROPOUT, optimizer="adamw", weight_decay=0.1), 30, 0),
        (replace(DROPOUT, engine="autograd"), 30, 0),
    ],
    ids=["begun", "first epoch", "adam", "long after a checkpoint", "dropout", "adamw", "autograd"],
)
def test_a_run_that_was_stopped_ends_in_the_same_parameters(
    rare_words: tuple[Path, Path], whole: Callable[..., Path], tmp_path: Path,
    caplog: pytest.LogCaptureFixture, settings: TrainingSettings, step: int, minutes: float,
) -> None:  # fmt: skip
    with interrupted_at(step):
        train_model(rare_words, tmp_path / "model", settings, minutes=minutes)
    assert not (tmp_path / "model/model.safetensors").exists()
    caplog.set_level(logging.INFO)
    resumed = train_model(rare_words, tmp_path / "model", settings)
    assert ("continuing after" in caplog.text) == (step > 1)
    assert sha256(resumed) == sha256(whole(settings))
    assert history(resumed) == history(whole(settings))
    assert sorted(path.name for path in resumed.parent.iterdir()) == [
        "config.json", "model.safetensors", "sentencepiece.model", "training.jsonl"
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["settings", "architecture", "data", "threads", "threads of autograd"])
def test_a_checkpoint_of_another_run_is_not_used(
    rare_words: tuple[Path, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    settings = replace(DROPOUT, engine="autograd" if kind == "threads of autograd" else "fused")
    with interrupted_at(30):
        train_model(rare_words, tmp_path / "model", settings, minutes=0)
    caplog.set_level(logging.INFO)
    data = rare_words
    if kind == "data":
        (tmp_path / "other").mkdir()
        data = write_training_data(tmp_path / "other", sentence_pairs(300, seed=1))
    elif kind == "settings":
        settings = replace(settings, learning_rate=0.005)
    inputs = training_inputs(data, settings)
    if kind == "architecture":
        inputs = replace(inputs, architecture=Architecture(scramble=0.5))
    train.train_model(inputs, tmp_path / "model", threads=2 if "threads" in kind else 1)
    assert ("continuing after" in caplog.text) == (kind == "threads")
    assert ("is not used" in caplog.text) == (kind != "threads")


@pytest.mark.slow("kills training many times")
def test_a_process_killed_again_and_again_ends_in_the_same_bytes(
    rare_words: tuple[Path, Path], tmp_path: Path
) -> None:
    settings, output = replace(DROPOUT, epochs=40), tmp_path / "killed"
    whole = train_model(rare_words, tmp_path / "whole", settings, minutes=1e6)
    checkpoint, moments = output / train.CHECKPOINT, random.Random(7)

    def written() -> int:
        return checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0

    for kill in (True, True, True, False):
        named = {"threads": 1, "checkpoint_minutes": 0}
        process = get_context("spawn").Process(
            target=train.train_model, args=(training_inputs(rare_words, settings), output), kwargs=named
        )
        process.start()
        if kill:
            start, deadline = written(), time.monotonic() + 60
            while written() == start and time.monotonic() < deadline:
                time.sleep(0.001)
            # The kill may hit a mega-batch or the writing of a checkpoint.
            time.sleep(moments.uniform(0, 0.2))
            process.kill()
        process.join()
        assert process.exitcode == (-signal.SIGKILL if kill else 0)
    assert sha256(output / "model.safetensors") == sha256(whole)
    assert history(output / "model.safetensors") == history(whole)
    assert not checkpoint.exists()
