"""Test the fused engine against autograd and torch's dense optimizers."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from training_runs import SETTINGS

from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.captured import CapturedEngine
from paraphrastic_pipeline.training.delayed_adam import EPSILON
from paraphrastic_pipeline.training.encoder_modules import AveragedEmbeddings, TrainableEncoder
from paraphrastic_pipeline.training.fused import FusedEngine
from paraphrastic_pipeline.training.fused_kernels import add_dropped
from paraphrastic_pipeline.training.loss import margin_loss
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.sparse_rows import Step
from paraphrastic_pipeline.training.threads import Workers

ROWS, ZERO_ROW = 60, 59
# The number of steps of a run, for learning rates that fall.
STEPS = 40_000


@pytest.fixture(autouse=True)
def _one_thread_of_torch() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def one_table(rows: int, settings: TrainingSettings) -> TrainableEncoder:
    table = AveragedEmbeddings(rows, settings.dimension, init_std=settings.init_std, seed=settings.seed)
    return TrainableEncoder([table], [0])


def engines(settings: TrainingSettings, *, threads: int = 1) -> tuple[FusedEngine, AutogradEngine]:
    table = one_table(ROWS, settings).parts[0].table.detach()
    table[ZERO_ROW] = 0.0
    encoder = AveragedEmbeddings(ROWS, settings.dimension, init_std=1.0, seed=1)
    encoder.table.data.copy_(table)
    dense = replace(settings, optimizer="adamw", dropout=0.0)
    return (
        FusedEngine(table, settings, Workers(threads), steps=STEPS),
        AutogradEngine(encoder, dense, steps=STEPS),
    )


def random_batches(
    n: int, *, pairs: int = 6, seed: int = 0
) -> Iterator[tuple[Sentences, np.ndarray, np.ndarray]]:
    """Yield mini-batches that contain the difficult cases.

    These are empty sentences, zero vectors, repeated tokens, a sentence that is its own translation, and
    missing negatives.
    """
    generator = np.random.default_rng(seed)
    for _ in range(n):
        lengths = generator.integers(1, 9, 4 * pairs)
        lengths[0] = 0
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        tokens = np.minimum(generator.geometric(0.1, offsets[-1]) - 1, ROWS - 2).astype(np.int32)
        tokens[offsets[1] : offsets[2]] = ZERO_ROW
        tokens[offsets[2] : offsets[3]] = tokens[offsets[2]]
        chosen = generator.integers(0, 4 * pairs, 4 * pairs)
        # Every batch contains the empty sentence, the zero vector and a pair of equal sentences.
        chosen[[0, 1, 2, pairs + 2]] = [0, 1, 5, 5]
        yield Sentences(tokens, offsets), chosen, generator.random((2, pairs)) > 0.2


@pytest.mark.parametrize("dimension", [5, 16, 300])
@pytest.mark.parametrize("pairs", [1, 6])
def test_loss_and_gradient_are_those_of_autograd(dimension: int, pairs: int) -> None:
    settings = replace(SETTINGS, dimension=dimension)
    for seed in range(5):
        fused, autograd = engines(settings)
        sentences, chosen, valid = next(random_batches(1, pairs=max(3, pairs), seed=seed))
        chosen = chosen.reshape(4, -1)[:, -pairs:].ravel()
        loss = fused.step(sentences, chosen, valid[:, -pairs:].copy())
        assert loss == pytest.approx(autograd.step(sentences, chosen, valid[:, -pairs:].copy()), rel=1e-5)
        # After one step, the first moment is a tenth of the gradient.
        gradient = fused._matrix(fused.parameters.first) / 0.1
        expected = autograd.encoder.table.grad
        np.testing.assert_allclose(gradient, expected, atol=2e-6 * float(expected.abs().max() + 1))


def test_a_batch_without_a_negative_has_no_loss_and_no_gradient() -> None:
    fused, _ = engines(SETTINGS)
    sentences, chosen, valid = next(random_batches(1))
    before = fused.table().copy()
    assert fused.step(sentences, chosen, np.zeros_like(valid)) == 0.0
    assert (fused.table() == before).all()


@pytest.mark.parametrize("change", [{}, {"optimizer": "adamw", "weight_decay": 0.3}])
@pytest.mark.parametrize("schedule", ["constant", "linear"])
def test_every_row_moves_as_in_the_dense_optimizer(
    change: dict[str, object], schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # At the learning rate of SETTINGS, the signs of tiny gradients would decide. At a lower one, a few
    # steps with long gaps are enough.
    monkeypatch.setattr("test_engine.STEPS", 200)
    fused, autograd = engines(
        replace(SETTINGS, learning_rate=0.002, learning_rate_schedule=schedule, **change)
    )
    start = fused.table().copy()
    for number, batch in enumerate(random_batches(200)):
        fused.step(*batch)
        autograd.step(*batch)
        if number in (0, 3, 50, 199):
            moved = np.abs(autograd.weights()["table"] - start).mean()
            assert np.abs(fused.table() - autograd.weights()["table"]).mean() < 1e-3 * moved


def random_moments() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table and its moments, among them some that vanish beside ε and some that are far above it."""
    generator = np.random.default_rng(0)
    start, first = generator.normal(size=(2, ROWS, SETTINGS.dimension)).astype(np.float32)
    second = (10 ** generator.uniform(-18, 0, first.shape)).astype(np.float32)
    return start * np.float32(0.001), first * np.sqrt(second), second


def plain_adam(moments: tuple[np.ndarray, ...], last: int, k: int, decay: float, schedule: str) -> np.ndarray:
    """Return the parameters after k steps with gradients of zero, computed in double precision."""
    p, m, v = moments
    for step in range(last + 1, last + k + 1):
        m, v = 0.9 * m, 0.999 * v
        lr = 0.001 * (1 - (step - 1) / STEPS) if schedule == "linear" else 0.001
        p = (1 - lr * decay) * p - lr / (1 - 0.9**step) * m / (np.sqrt(v / (1 - 0.999**step)) + EPSILON)
    return p


@pytest.mark.parametrize("schedule", ["constant", "linear"])
@pytest.mark.parametrize("decay", [0.0, 0.5])
@pytest.mark.parametrize("last", [1, 20, 170, 1000, 30_000])
@pytest.mark.parametrize("k", [1, 2, 30, 1500])
def test_missed_steps_are_made_up_for(last: int, k: int, decay: float, schedule: str) -> None:
    optimizer = {"optimizer": "adamw", "weight_decay": decay} if decay else {}
    fused, _ = engines(replace(SETTINGS, learning_rate=0.001, learning_rate_schedule=schedule, **optimizer))
    start, first, second = random_moments()
    state = {"table": start, "first": first, "second": second, "last": np.full(ROWS, last)}
    fused.restore(
        {**{key: torch.from_numpy(value) for key, value in state.items()}, "steps": torch.tensor(last)}
    )
    fused.steps_done += k
    moments = tuple(array.astype(np.float64) for array in (start, first, second))
    movement = plain_adam(moments, last, k, decay, schedule) - start
    # Weight decay and momentum can cancel out, so the tolerance is relative to the mean movement.
    np.testing.assert_allclose(
        fused.table() - start, movement, rtol=3e-4, atol=3e-4 * float(np.abs(movement).mean())
    )
    fused._settle(fused.parameters, fused.last, np.arange(ROWS, dtype=np.int32))
    np.testing.assert_allclose(fused._matrix(fused.parameters.second), second * 0.999**k, rtol=1e-4)


@pytest.mark.parametrize("dimension", [16, 5])
def test_asking_changes_nothing_and_a_state_goes_on_as_if_nothing_had_been(dimension: int) -> None:
    settings = replace(SETTINGS, dimension=dimension, dropout=0.2)
    plain, asked, restored = (engines(settings)[0] for _ in range(3))
    for number, batch in enumerate(random_batches(60)):
        losses = [engine.step(*batch) for engine in (plain, asked)]
        assert (asked.table() == plain.table()).all()
        if number >= 30:
            losses.append(restored.step(*batch))
        if number == 29:
            # A checkpoint in a file is a copy, too.
            restored.restore({name: tensor.clone() for name, tensor in asked.state().items()})
        assert len(set(losses)) == 1
    for engine in (asked, restored):
        for name, tensor in plain.state().items():
            assert torch.equal(engine.state()[name], tensor), name


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_the_number_of_threads_does_not_change_a_digit(dropout: float) -> None:
    settings = replace(SETTINGS, dimension=300, dropout=dropout)
    one, two, five = (engines(settings, threads=threads)[0] for threads in (1, 2, 5))
    for sentences, chosen, valid in random_batches(20):
        assert torch.equal(one.embed(sentences), two.embed(sentences))
        five.embed(sentences)
        losses = {engine.step(sentences, chosen, valid) for engine in (one, two, five)}
        assert len(losses) == 1
    assert (one.table() == two.table()).all()
    assert (one.table() == five.table()).all()


def test_vectors_are_those_of_the_encoder() -> None:
    fused, autograd = engines(replace(SETTINGS, dimension=300), threads=2)
    for number, (sentences, chosen, valid) in enumerate(random_batches(3)):
        np.testing.assert_allclose(fused.embed(sentences), autograd.embed(sentences), atol=1e-5)
        assert not fused.embed(sentences)[0].any()
        assert number > 0 or not fused.embed(sentences)[1].any()
        fused.step(sentences, chosen, valid)
        autograd.step(sentences, chosen, valid)


def test_dropout_is_autograds_with_the_same_entries_left_out() -> None:
    """The first moment m shows the mask: with one token per sentence, it is zero for dropped entries."""
    settings = replace(SETTINGS, dimension=64, dropout=0.25)
    fused, _ = engines(settings)
    n = (ROWS - 1) // 4
    sentences = Sentences(np.arange(4 * n, dtype=np.int32), np.arange(4 * n + 1))
    table = torch.from_numpy(fused.table().copy()).requires_grad_()
    loss = fused.step(sentences, np.arange(4 * n), np.ones((2, n), np.bool_))
    gradient = fused._matrix(fused.parameters.first)[: 4 * n] / 0.1
    active = np.flatnonzero(np.abs(gradient).sum(axis=1) > 0)
    # A term of the hinge that is zero shows nothing about its sentences; only a few terms are.
    assert len(active) > 0.9 * 4 * n
    mask = torch.ones(4 * n, 64)
    mask[active] = torch.from_numpy(gradient[active] != 0).float()
    expected = margin_loss((table[: 4 * n] * mask / 0.75).chunk(4), torch.ones(2, n), margin=0.4)
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    np.testing.assert_allclose(gradient[active], table.grad[: 4 * n][active], atol=1e-7)
    assert mask[active].mean().item() == pytest.approx(0.75, abs=0.03)


def test_dropout_has_its_rate_and_no_pattern() -> None:
    """Entries are dropped independently of their neighbours and of the same entries in another step."""

    def kept(seed: int) -> np.ndarray:
        ones, rows = np.ones(256, np.float32), np.zeros((400, 256), np.float32)
        for token, row in enumerate(rows):
            add_dropped(row, ones, 0, 256, token, 0, Step(1, 0.1, 0, 0.0, seed, round(0.1 * 65536)))
        return rows

    first, other = kept(1), kept(2)
    assert first.mean() == pytest.approx(0.9, abs=0.003)
    centred = first - first.mean()
    for shifted in (
        np.roll(centred, 1, axis=0),
        np.roll(centred, 1, axis=1),
        np.roll(centred, 128, axis=1),
        other - 0.9,
    ):
        assert abs((centred * shifted).mean()) < 4 * 0.09 / np.sqrt(centred.size)


@pytest.mark.parametrize(
    ("device", "dropout"),
    [
        *(("cpu", dropout) for dropout in (0.0, 0.3)),
        *(pytest.param("cuda", dropout, marks=pytest.mark.gpu) for dropout in (0.0, 0.3)),
    ],
)
def test_captured_steps_are_those_of_autograd(device, dropout, monkeypatch):
    monkeypatch.setattr("paraphrastic_pipeline.training.captured._CAPACITY", 8)
    settings = replace(SETTINGS, dimension=16, batch_size=6, device=device, dropout=dropout, warmup=0.5)
    runs = []
    for engine_of in (AutogradEngine, CapturedEngine, CapturedEngine):
        engine = engine_of(one_table(ROWS, settings), settings, steps=10)
        losses = []
        for number, (sentences, chosen, valid) in enumerate(random_batches(10)):
            if number == 7:
                # A run that was killed goes on with another engine.
                state, engine = engine.state(), engine_of(one_table(ROWS, settings), settings, steps=10)
                engine.restore(state)
            pairs = 6 if number < 9 else 4
            places = chosen.reshape(4, -1)[:, :pairs].ravel()
            losses.append(float(engine.step(sentences, places, valid[:, :pairs])))
        runs.append((losses, engine.weights(), engine.embed(sentences).cpu().numpy()))
    autograd, captured, again = runs
    if not dropout:
        np.testing.assert_allclose(captured[0], autograd[0], rtol=1e-5)
        np.testing.assert_allclose(captured[2], autograd[2], atol=1e-5)
    assert captured[0] == again[0]
    for name, parameter in captured[1].items():
        np.testing.assert_array_equal(parameter, again[1][name])
        if not dropout:
            np.testing.assert_allclose(parameter, autograd[1][name], atol=1e-4)
