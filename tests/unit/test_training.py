"""The training loop: exact, defined at its edges."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import reference
import torch
from small_corpus import sentence_pairs, write_training_data
from test_dataset import listed

from paraphrastic.dataset import PairDataset
from paraphrastic.errors import InputError
from paraphrastic.files import sha256
from paraphrastic.model import load_model
from paraphrastic.training import train
from paraphrastic.training.batches import megabatch_size, megabatches
from paraphrastic.training.encoder import AveragedEmbeddings
from paraphrastic.training.settings import TrainingSettings

SETTINGS = TrainingSettings(
    dimension=16,
    init_std=1.0,
    epochs=4,
    batch_size=32,
    megabatch=4,
    megabatch_anneal=5,
    margin=0.4,
    dropout=0.0,
    optimizer="adam",
    learning_rate=0.03,
    weight_decay=0.0,
    negatives="other_side",
    exclude_duplicates=False,
    mining_precision="float32",
    engine="fused",
    shuffle_window=1 << 20,
    seed=3,
)
CONFIG = {"model": "de", "languages": ["en", "de"], "lowercase": True, "segmentation": {}, "folding": {}}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_training_data(tmp_path_factory.mktemp("data"), sentence_pairs(500))


def train_model(data: tuple[Path, Path], output: Path, settings: TrainingSettings) -> Path:
    train.train_model(*data, output, settings=settings, config=CONFIG, threads=1)
    return output / "model.safetensors"


def test_parameters_and_losses_are_those_of_the_plain_reference(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = []
    step = train._Run._step

    def recorded(run: train._Run, *arguments: object, **named: object) -> float:
        losses.append(step(run, *arguments, **named))
        return losses[-1]

    monkeypatch.setattr(train._Run, "_step", recorded)
    weights = train_model(data, tmp_path / "model", SETTINGS)
    with PairDataset(data[0]) as pairs:
        batches, read = [], 0
        for epoch in range(SETTINGS.epochs):
            batches.append([])
            for mega in megabatches(pairs, SETTINGS, epoch=epoch, batches_read=read):
                source, target = listed(mega.source), listed(mega.target)
                starts = range(0, len(mega), SETTINGS.batch_size)
                batches[-1] += [
                    (source[i:][: SETTINGS.batch_size], target[i:][: SETTINGS.batch_size]) for i in starts
                ]
                read += len(starts)
        table = AveragedEmbeddings(pairs.n_rows, 16, init_std=1.0, seed=SETTINGS.seed).table.detach()
        expected = reference.train(batches, table, margin=0.4, learning_rate=0.03, megabatch=4, anneal=5)
        np.testing.assert_allclose(losses, expected, atol=1e-4)
        assert losses[-1] < 0.75 * losses[0]
        trained = load_model(weights.parent).embeddings[pairs.pieces]
        np.testing.assert_allclose(trained, table.detach()[:-1], atol=1e-3)


def test_megabatch_is_annealed_and_only_the_last_batch_of_an_epoch_is_short(data: tuple[Path, Path]) -> None:
    assert [megabatch_size(read, SETTINGS) for read in (0, 4, 5, 9, 10, 15, 500)] == [1, 1, 2, 2, 3, 4, 4]
    with PairDataset(data[0]) as pairs:
        epoch = list(megabatches(pairs, SETTINGS, epoch=0, batches_read=0))
    # 500 pairs are 15 mini-batches of 32 and one of 20; M is 1 for the first 5, 2 for the next …
    assert [len(mega) for mega in epoch] == [32] * 5 + [64] * 3 + [96, 500 - 32 * 14]
    assert [mega.size for mega in epoch] == [1] * 5 + [2] * 3 + [3, 3]


def test_the_seed_decides_the_result(data: tuple[Path, Path], tmp_path: Path) -> None:
    settings = replace(SETTINGS, dropout=0.2, epochs=1)
    first = train_model(data, tmp_path / "first", settings)
    again = train_model(data, tmp_path / "again", settings)
    other = train_model(data, tmp_path / "other", replace(settings, seed=4))
    assert sha256(first) == sha256(again) != sha256(other)


def test_a_loss_that_is_not_finite_stops_the_run(data: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"the loss is nan in epoch 1, mini-batch \d+: lower training.learning_rate"
    ):
        train_model(data, tmp_path / "model", replace(SETTINGS, learning_rate=1e38))
    assert not (tmp_path / "model" / "model.safetensors").exists()


def test_one_pair_is_a_corpus(tmp_path: Path) -> None:
    data = write_training_data(tmp_path, [("the dog sees the cat", "der hund sieht die katze")], size=40)
    model = load_model(train_model(data, tmp_path / "model", SETTINGS).parent)
    assert np.isfinite(model.embed_raw_text(["the dog"])).all()


def test_a_megabatch_larger_than_the_corpus_is_the_corpus(data: tuple[Path, Path], tmp_path: Path) -> None:
    settings = replace(
        SETTINGS, megabatch=1000, megabatch_anneal=1, negatives="either_side", exclude_duplicates=True
    )
    train_model(data, tmp_path / "model", settings)
    with PairDataset(data[0]) as pairs:
        assert [len(mega) for mega in megabatches(pairs, settings, epoch=2, batches_read=32)] == [500]


def test_a_foreign_vocabulary_is_refused(data: tuple[Path, Path], tmp_path: Path) -> None:
    _, other = write_training_data(tmp_path, sentence_pairs(100, seed=5), size=50)
    with pytest.raises(InputError, match="was not encoded with"):
        train_model((data[0], other), tmp_path / "model", SETTINGS)


def test_dropout_keeps_the_expected_vector_and_is_off_outside_of_training(data: tuple[Path, Path]) -> None:
    with PairDataset(data[0]) as pairs:
        sentences, _ = pairs.read(0, 4)
        encoder = AveragedEmbeddings(pairs.n_rows, 16, init_std=1.0, seed=1, dropout=0.3)
    torch.manual_seed(0)
    with torch.no_grad():
        dropped = torch.stack([encoder.train()(sentences) for _ in range(4000)])
        clean = encoder.eval()(sentences)
    assert (dropped[0] != dropped[1]).any()
    np.testing.assert_allclose(dropped.mean(dim=0), clean, atol=0.05)
