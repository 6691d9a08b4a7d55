"""Test that the training loop is exact and behaves as defined at its limits."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import reference
import torch
from safetensors.numpy import load_file
from small_corpus import sentence_pairs, write_training_data
from test_dataset import listed
from training_runs import SETTINGS, history, train_model, training_inputs

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic.model.vocabulary import UNSEEN
from paraphrastic_pipeline.settings.sections.training import EngineName, TrainingSettings
from paraphrastic_pipeline.training import beginning, train
from paraphrastic_pipeline.training.checkpoint import Checkpoints
from paraphrastic_pipeline.training.encoder_modules import AveragedEmbeddings
from paraphrastic_pipeline.training.loop import TrainingRun, megabatch_size, megabatches
from paraphrastic_pipeline.training.pair_dataset import PairDataset


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_training_data(tmp_path_factory.mktemp("data"), sentence_pairs(500))


@pytest.mark.parametrize("negatives", ["other_side", "either_side"])
def test_parameters_and_losses_are_those_of_the_plain_reference(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, negatives: Any
) -> None:
    settings, losses = replace(SETTINGS, epochs=2, negatives=negatives), []
    step = TrainingRun._step

    def recorded(run: TrainingRun, *arguments: object, **named: object) -> float:
        losses.append(step(run, *arguments, **named))
        return losses[-1]

    monkeypatch.setattr(TrainingRun, "_step", recorded)
    weights = train_model(data, tmp_path / "model", settings)
    with PairDataset(data[0]) as pairs:
        batches, read = [], 0
        for epoch in range(settings.epochs):
            batches.append([])
            for mega, _ in megabatches(pairs, settings, epoch=epoch, batches_read=read):
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
    with PairDataset(data[0]) as pairs:
        epoch = list(megabatches(pairs, SETTINGS, epoch=0, batches_read=0))
    # 500 pairs make 15 mini-batches of 32 and one of 20. M is 1 for the first 5, then 2, and so on.
    assert [len(mega) // 2 for mega, _ in epoch] == [32] * 5 + [64] * 3 + [96, 500 - 32 * 14]
    assert [size for _, size in epoch] == [1] * 5 + [2] * 3 + [3, 3]


def test_without_annealing_the_megabatch_is_whole_from_the_beginning(
    data: tuple[Path, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = replace(SETTINGS, epochs=1, megabatch=20, megabatch_anneal=0)
    assert [megabatch_size(read, settings) for read in (0, 1, 500)] == [20] * 3
    with PairDataset(data[0]) as pairs:
        parts = list(megabatches(pairs, replace(settings, megabatch=4), epoch=0, batches_read=0))
    # The 500 pairs of an epoch make three mega-batches of 4 mini-batches of 32, and a shorter one.
    assert [(len(mega) // 2, size) for mega, size in parts] == [(128, 4)] * 3 + [(116, 4)]
    # 20 mini-batches are more than an epoch has, and there is nothing that M would have to grow to.
    train_model(data, tmp_path / "model", settings)
    assert not [message for message in caplog.messages if "grows" in message]


def test_the_seed_decides_the_result(data: tuple[Path, Path], tmp_path: Path) -> None:
    settings = replace(SETTINGS, dropout=0.2, epochs=1)
    first = train_model(data, tmp_path / "first", settings)
    again = train_model(data, tmp_path / "again", settings)
    other = train_model(data, tmp_path / "other", replace(settings, seed=4))
    assert sha256(first) == sha256(again) != sha256(other)


@pytest.mark.parametrize("loss", [np.nan, np.inf])
def test_a_loss_that_is_not_finite_stops_the_run(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: float
) -> None:
    monkeypatch.setattr(TrainingRun, "_step", lambda *_, **__: loss)
    with pytest.raises(InputError, match=rf"^\S+train\.h5: .*{loss}.*epoch 1.*training\.learning_rate"):
        train_model(data, tmp_path / "model", SETTINGS)
    assert not (tmp_path / "model" / "model.safetensors").exists()


def test_parameters_that_are_not_finite_are_not_saved(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, steps = TrainingRun._step, 0

    def spoilt(run: TrainingRun, *arguments: Any, **named: Any) -> float:
        nonlocal steps
        steps += 1
        loss = step(run, *arguments, **named)
        if steps == 20:
            # The row is not needed soon, so the loss stays finite.
            run.engine.parameters.second[3] = np.inf  # type: ignore[attr-defined]
        return loss

    monkeypatch.setattr(TrainingRun, "_step", spoilt)
    with pytest.raises(InputError, match="the parameters are not finite in epoch 2, mini-batch 5: lower"):
        # After the 16 mini-batches of the first epoch, M is 4.
        train_model(data, tmp_path / "model", SETTINGS, minutes=0)
    checkpoints = Checkpoints(tmp_path / "model/checkpoints", identity="")
    names = sorted(int(path.stem) for path in checkpoints.folder.glob("*.safetensors"))
    assert names == [14, 16]


def test_no_pairs_are_no_training_data(data: tuple[Path, Path], tmp_path: Path) -> None:
    empty = tmp_path / "train.h5"
    with h5py.File(data[0]) as old, h5py.File(empty, "w") as new:
        unit = new.create_group("subword")
        unit["pieces"], unit["alike"] = old["subword/pieces"][:], old["subword/alike"][:]
        for side in ("source", "target"):
            unit[f"{side}/tokens"], unit[f"{side}/offsets"] = np.empty(0, np.int32), np.zeros(1, np.int64)
        unit.attrs.update(old["subword"].attrs)
        new.attrs.update(old.attrs)
    with pytest.raises(InputError, match=r"train\.h5: contains no pairs"):
        train_model((empty, data[1]), tmp_path / "model", SETTINGS)


@pytest.mark.parametrize("batch_size", [32, 50, 100, 500, 1000])
def test_no_batch_is_empty(data: tuple[Path, Path], tmp_path: Path, batch_size: int) -> None:
    settings = replace(SETTINGS, batch_size=batch_size)
    with PairDataset(data[0]) as pairs:
        sizes = [len(mega) // 2 for mega, _ in megabatches(pairs, settings, epoch=0, batches_read=0)]
    assert sum(sizes) == 500
    assert min(sizes) > 0
    if batch_size >= 500:
        # A batch that is larger than the data contains all pairs.
        assert sizes == [500]
        assert load_model(train_model(data, tmp_path / "model", settings).parent).dim == 16


@pytest.mark.parametrize("engine", ["fused", "autograd"])
@pytest.mark.parametrize(
    ("copies", "change"), [(1, {}), (90, {"exclude_duplicates": True, "negatives": "either_side"})]
)
def test_from_one_pair_and_its_copies_nothing_is_learned(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, engine: Any, copies: int, change: dict[str, Any]
) -> None:
    pairs = [("the dog sees the cat", "der hund sieht die katze")] * copies
    data, settings = write_training_data(tmp_path, pairs, size=40), replace(SETTINGS, engine=engine, **change)
    model = load_model(train_model(data, tmp_path / "model", settings).parent)
    untrained = beginning.untrained_model(training_inputs(data, settings))
    assert (model.embeddings == untrained.tensors["embeddings"]).all()
    for epoch in range(1, settings.epochs + 1):
        assert f"no sentence had a negative in epoch {epoch}, so nothing was learned" in caplog.text


def test_sentences_of_only_unknown_pieces_have_a_vector_that_is_learned(tmp_path: Path) -> None:
    # The sentence is a zero-width space, which leaves no piece.
    pairs = [("\u200b", "das haus"), ("the house", "\u200b"), *sentence_pairs(200)]
    data = write_training_data(tmp_path, pairs)
    model = load_model(train_model(data, tmp_path / "model", SETTINGS).parent)
    untrained = beginning.untrained_model(training_inputs(data, SETTINGS))
    assert np.isfinite(model.unknown).all()
    assert (model.unknown != untrained.tensors["unknown"]).any()


def test_a_megabatch_larger_than_the_corpus_is_the_corpus(data: tuple[Path, Path], tmp_path: Path) -> None:
    settings = replace(
        SETTINGS, megabatch=1000, megabatch_anneal=1, negatives="either_side", exclude_duplicates=True
    )
    train_model(data, tmp_path / "model", settings)
    with PairDataset(data[0]) as pairs:
        ((mega, _),) = megabatches(pairs, settings, epoch=2, batches_read=32)
    assert len(mega) == 2 * 500


def test_a_foreign_vocabulary_is_refused(data: tuple[Path, Path], tmp_path: Path) -> None:
    _, other = write_training_data(tmp_path, sentence_pairs(100, seed=5), size=50)
    with pytest.raises(InputError, match="was not encoded with"):
        train_model((data[0], other), tmp_path / "model", SETTINGS)


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
        assert (pairs.counts()[0] == occurrences).all()
        pieces = pairs.units[0].pieces
    plain, scaled = (
        beginning.untrained_model(training_inputs(data, replace(SETTINGS, init_sif=a))).tensors
        for a in (None, 0.01)
    )
    expected = 0.01 / (0.01 + occurrences / len(tokens))
    ratio = scaled["embeddings"][pieces] / plain["embeddings"][pieces]
    np.testing.assert_allclose(ratio, np.broadcast_to(expected[:-1, None], ratio.shape), rtol=1e-5)
    assert expected.max() > 1.5 * expected.min()


@pytest.mark.parametrize("used", ["float32", "bfloat16"])
def test_the_precision_that_auto_chose_is_used_and_written_down(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: str
) -> None:
    def choose(device: str, precision: str) -> str:
        assert (device, precision) == ("cpu", "auto")
        return used

    monkeypatch.setattr(train, "precision_on", choose)
    settings = replace(SETTINGS, epochs=1)
    chosen = train_model(data, tmp_path / "auto", replace(settings, mining_precision="auto"))
    monkeypatch.undo()
    given = train_model(data, tmp_path / "given", replace(settings, mining_precision=used))
    assert load_model(chosen.parent).config["training"]["mining_precision"] == used
    for name in ("model.safetensors", "config.json"):
        assert (chosen.parent / name).read_bytes() == (given.parent / name).read_bytes()


@pytest.mark.parametrize(
    ("megabatch", "told"),
    [(4, None), (13, None), (14, "M grows only to 13 instead of 14 in 64 mini-batches")],
)
def test_a_megabatch_that_is_never_reached_is_told(
    data: tuple[Path, Path],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    megabatch: int,
    told: str | None,
) -> None:
    # An epoch of 500 pairs has 16 mini-batches of 32, and M grows by one every five.
    train_model(data, tmp_path / "model", replace(SETTINGS, megabatch=megabatch))
    assert [message for message in caplog.messages if "grows" in message] == ([told] if told else [])


@pytest.mark.parametrize("engine", ["fused", "autograd"])
def test_a_soup_is_the_mean_of_trainings_from_one_beginning(
    engine: EngineName, data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(SETTINGS, engine=engine, epochs=2, dropout=0.2)
    one = load_file(train_model(data, tmp_path / "one", settings))["embeddings"]
    plain, members = TrainingRun._add_to_soup, []

    def recorded(run: TrainingRun, training: int) -> None:
        members.append(run.engine.weights()["parts.0.table"])
        plain(run, training)

    monkeypatch.setattr(TrainingRun, "_add_to_soup", recorded)
    path = train_model(data, tmp_path / "soup", replace(settings, soup=3))
    mean = load_file(path)["embeddings"]
    assert len(members) == 3
    lines = history(path)
    assert lines[-1]["epoch"] == 6
    # M grows again in each training.
    sizes = [
        [line["megabatch"] for line in lines if start < line["epoch"] <= start + 2] for start in (0, 2, 4)
    ]
    assert sizes[0] == sizes[1] == sizes[2]
    assert set(sizes[0]) == {1, 2, 3, 4}
    with PairDataset(data[0]) as pairs:
        rows = pairs.units[0].pieces
    np.testing.assert_allclose(mean[rows], np.mean(members, axis=0)[: len(rows)], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(one[rows], members[0][: len(rows)])
    begun = untrained_table(data, settings)
    # All of them stay nearer to their beginning than two random tables are to each other.
    moved = [np.linalg.norm(member - begun) for member in members]
    apart = [np.linalg.norm(members[0] - member) for member in members[1:]]
    assert min(apart) > 0.1 * min(moved)
    assert max(moved) < np.linalg.norm(begun)


def untrained_table(data: tuple[Path, Path], settings: TrainingSettings) -> Any:
    with PairDataset(data[0]) as pairs:
        encoder = beginning.begin(pairs, training_inputs(data, settings), 1).encoder
    return encoder.get_parameter("parts.0.table").detach().numpy()


def test_a_precision_without_instructions_is_told(
    data: tuple[Path, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "has_instructions", lambda precision: precision != "bfloat16")
    for precision in ("float32", "bfloat16"):
        caplog.clear()
        settings = replace(SETTINGS, epochs=1, mining_precision=precision)
        train_model(data, tmp_path / precision, settings)
        told = [message for message in caplog.messages if "instructions for bfloat16" in message]
        assert len(told) == (precision == "bfloat16")
