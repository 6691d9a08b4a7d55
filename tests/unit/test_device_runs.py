"""Test how negatives are mined on a GPU, and whole training runs on the processor and on a GPU."""

from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from device_engines import fused, on_device, random_megabatches, step_through, train_on
from small_corpus import sentence_pairs, write_training_data
from test_negative_mining import corners, mined, plain_search, unit_vectors
from training_runs import SETTINGS, history, train_model

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic_pipeline.base.devices import choose_device
from paraphrastic_pipeline.training import negative_mining, train
from paraphrastic_pipeline.training.checkpoint import Checkpoints
from paraphrastic_pipeline.training.device.engine import DeviceEngine
from paraphrastic_pipeline.training.device.selection import first_free
from paraphrastic_pipeline.training.fingerprints import fingerprints, sentence_fingerprints
from paraphrastic_pipeline.training.negative_mining import hardest_on_device
from paraphrastic_pipeline.training.sentences import Sentences


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_training_data(tmp_path_factory.mktemp("data"), sentence_pairs(500))


@pytest.mark.parametrize("either_side", [False, True])
@pytest.mark.parametrize("exclude_duplicates", [False, True])
@pytest.mark.parametrize("block_rows", [3, 1000])
def test_negatives_are_those_of_a_plain_search(
    monkeypatch: pytest.MonkeyPatch, device: torch.device, either_side: bool, exclude_duplicates: bool,
    block_rows: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(negative_mining, "DEVICE_ROWS", block_rows)
    vectors, ids = unit_vectors(80), [i % 23 for i in range(80)]
    options = {"either_side": either_side, "exclude_duplicates": exclude_duplicates}
    found = hardest_on_device(
        vectors.to(device), torch.tensor(ids, device=device), **options, precision="float32"
    )
    assert found.tolist() == plain_search(vectors, ids, **options)


@pytest.mark.parametrize("either_side", [False, True])
def test_of_equals_the_processors_negative_is_chosen(
    monkeypatch: pytest.MonkeyPatch, device: torch.device, either_side: bool
) -> None:
    # A block of rows may have equals only on the own side, and later blocks have some on the other side.
    vectors = corners(400)
    options = {"either_side": either_side, "exclude_duplicates": False}
    expected = mined(vectors, threads=2, **options, precision="bfloat16")
    ids = torch.arange(400, device=device)
    for block_rows in (37, 4096):
        monkeypatch.setattr(negative_mining, "DEVICE_ROWS", block_rows)
        found = hardest_on_device(vectors.to(device), ids, **options, precision="bfloat16")
        assert found.tolist() == expected.tolist()


def test_there_may_be_no_negative(device: torch.device) -> None:
    ids = torch.tensor([1, 1, 1, 2, 2, 2], device=device)
    options = {"either_side": True, "exclude_duplicates": True, "precision": "float32"}
    assert hardest_on_device(unit_vectors(6).to(device), ids, **options).tolist() == [-1] * 6
    assert hardest_on_device(unit_vectors(2).to(device), ids[2:4], **options).tolist() == [-1] * 2


def test_vectors_fingerprints_and_negatives_are_the_fused_engines(device: torch.device) -> None:
    settings = replace(SETTINGS, dimension=300, exclude_duplicates=True)
    ours, theirs = on_device(settings, device), fused(settings)
    for megabatch in random_megabatches(3):
        sentences = megabatch[0]
        moved = ours._moved(sentences)
        assert sentence_fingerprints(*moved).tolist() == fingerprints(sentences).tolist()
        vectors = theirs.embed(sentences)
        np.testing.assert_allclose(ours.embed(sentences).cpu(), vectors, atol=1e-5)
        expected = mined(vectors, fingerprints(sentences).tolist(), exclude_duplicates=True)
        found = ours.negatives(*moved).tolist()
        # Sentences with the same words have the same vectors up to rounding, so any of them may be found.
        same = (vectors * vectors[expected]).sum(1), (vectors * vectors[found]).sum(1)
        torch.testing.assert_close(*same, rtol=0, atol=2e-6)
        assert np.mean(expected == found) > 0.8
        assert ((expected < 0) == (np.array(found) < 0)).all()
        train_on(ours, megabatch)
        step_through(theirs, megabatch)


def engine_of_the_gpu(encoder, settings, workers, *, device, anchors, steps) -> DeviceEngine:
    """Make the GPU's engine, whatever the device, as `train.build_engine` does."""
    table = encoder.get_parameter("parts.0.table").detach()
    return DeviceEngine(table, settings, device, steps=steps)


def test_a_run_ends_as_the_fused_engines_and_goes_on_bit_for_bit(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: torch.device
) -> None:
    settings = replace(SETTINGS, learning_rate=0.003)
    expected = train_model(data, tmp_path / "fused", settings)
    if device.type == "cpu":
        monkeypatch.setattr(train, "build_engine", engine_of_the_gpu)
    else:
        settings = replace(settings, device="cuda")
    whole = train_model(data, tmp_path / "whole", settings)
    ours, theirs = (history(path) for path in (whole, expected))
    assert [line["step"] for line in ours] == [line["step"] for line in theirs]
    np.testing.assert_allclose([line["loss"] for line in ours], [line["loss"] for line in theirs], atol=2e-3)
    plain = DeviceEngine.train

    def killed(engine: DeviceEngine, sentences: Sentences) -> tuple[list[float], int]:
        if engine.steps_done > 20:
            raise KeyboardInterrupt
        return plain(engine, sentences)

    with monkeypatch.context() as patch:
        patch.setattr(DeviceEngine, "train", killed)
        with pytest.raises(KeyboardInterrupt):
            train_model(data, tmp_path / "stopped", settings, minutes=0.0)
    assert len(list((tmp_path / "stopped/checkpoints").glob("*.safetensors"))) == 2
    assert sha256(train_model(data, tmp_path / "stopped", settings)) == sha256(whole)


def test_a_rate_that_is_too_high_ends_with_the_mini_batch(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The losses of a mega-batch arrive together, but the error still names the mini-batch."""
    monkeypatch.setattr(train, "build_engine", engine_of_the_gpu)
    plain = DeviceEngine.train

    def spoilt(engine: DeviceEngine, sentences: Sentences) -> tuple[list[float], int]:
        losses, n = plain(engine, sentences)
        return ([*losses[:2], float("nan"), *losses[3:]] if len(losses) > 2 else losses), n

    monkeypatch.setattr(DeviceEngine, "train", spoilt)
    # Five mega-batches have one mini-batch, three have two (the last ends after 11), and three more have
    # three.
    with pytest.raises(InputError, match=r"the loss is nan in epoch 1, mini-batch 14: lower"):
        train_model(data, tmp_path / "model", SETTINGS)


def test_the_device_is_one_that_there_is(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert (choose_device("auto", key="device"), choose_device("cpu", key="device")) == ("cpu", "cpu")
    with pytest.raises(
        InputError, match=r"training\.device: cuda is asked for, but torch .* (sees|built|finds)"
    ):
        train_model(data, tmp_path / "model", replace(SETTINGS, device="cuda"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    found = [choose_device(asked, key="device") for asked in ("auto", "cpu", "cuda")]
    assert found == ["cuda", "cpu", "cuda"]


def test_a_checkpoint_goes_on_on_its_own_kind_of_device(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identities = []

    class Recorded(Checkpoints):
        def __init__(self, folder: Path, *, identity: str) -> None:
            identities.append(identity)
            super().__init__(folder, identity=identity)

    monkeypatch.setattr(train, "Checkpoints", Recorded)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for device in ("cpu", "auto"):
        train_model(data, tmp_path / device, replace(SETTINGS, epochs=1, device=device))
    assert identities[0] == identities[1]
    monkeypatch.setattr(train, "choose_device", lambda _, key: "cuda")
    monkeypatch.setattr(train, "held_device", lambda _: nullcontext(torch.device("cpu")))
    train_model(data, tmp_path / "cuda", replace(SETTINGS, epochs=1, device="cuda"))
    assert identities[2] != identities[0]


def test_runs_at_once_hold_gpus_of_their_own(tmp_path: Path) -> None:
    names = ["GPU-1", "GPU-2"]
    with ExitStack() as other:
        with ExitStack() as first, ExitStack() as second:
            assert first_free(names, tmp_path, first) == 0
            assert first_free(names, tmp_path, second) == 1
            assert first_free(names, tmp_path, other) is None
        assert first_free(names, tmp_path, other) == 0
