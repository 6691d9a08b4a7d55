"""Test the engine for GPUs against the fused engine and torch's dense optimizers, with and without a GPU."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from device_engines import STEPS, fused, initial_table, on_device, random_megabatches, step_through, train_on
from test_engine import ROWS, plain_adam, random_moments
from training_runs import SETTINGS

from paraphrastic.model.architecture import Architecture, Part
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.device.engine import DeviceEngine
from paraphrastic_pipeline.training.device.formulas import adam, caught_up, hinge_and_factors
from paraphrastic_pipeline.training.encoder_modules import AveragedEmbeddings, initial_encoder
from paraphrastic_pipeline.training.loss import margin_loss
from paraphrastic_pipeline.training.pair_dataset import UnitTable
from paraphrastic_pipeline.training.sentences import Sentences


@pytest.mark.parametrize(
    "change",
    [{}, {"optimizer": "adamw", "weight_decay": 0.3}, {"optimizer": "lazy_adam"}],
    ids=["adam", "adamw", "lazy"],
)
@pytest.mark.parametrize("schedule", ["constant", "linear"])
def test_every_row_moves_as_in_the_fused_engine(
    device: torch.device, change: dict[str, object], schedule: str
) -> None:
    settings = replace(SETTINGS, learning_rate=0.002, learning_rate_schedule=schedule, **change)
    # A few steps with long gaps are enough, since each mega-batch touches only some of the rows.
    ours, theirs = on_device(settings, device, steps=200), fused(settings, steps=200)
    start = theirs.table()
    for number, megabatch in enumerate(random_megabatches(50)):
        np.testing.assert_allclose(train_on(ours, megabatch), step_through(theirs, megabatch), rtol=1e-4)
        if number in (0, 1, 12, 49):
            moved = np.abs(theirs.table() - start).mean()
            assert np.abs(ours.table() - theirs.table()).mean() < 1e-3 * moved
    assert np.array_equal(ours.state()["last"], theirs.last)
    # Some rows are absent for whole mega-batches and come back later.
    assert len(np.unique(theirs.last)) > 3


def test_every_row_moves_as_in_torchs_dense_adam(device: torch.device) -> None:
    settings = replace(SETTINGS, learning_rate=0.002)
    ours = on_device(settings, device)
    encoder = AveragedEmbeddings(ROWS, settings.dimension, init_std=1.0, seed=1)
    encoder.table.data.copy_(initial_table(settings))
    dense = AutogradEngine(encoder, settings, steps=STEPS)
    start = ours.table()
    for megabatch in random_megabatches(50):
        np.testing.assert_allclose(train_on(ours, megabatch), step_through(dense, megabatch), rtol=1e-4)
    expected = dense.weights()["table"]
    assert np.abs(ours.table() - expected).mean() < 1e-3 * np.abs(expected - start).mean()


@pytest.mark.parametrize("schedule", ["constant", "linear"])
@pytest.mark.parametrize("decay", [0.0, 0.5])
@pytest.mark.parametrize("last", [1, 20, 170, 30_000])
@pytest.mark.parametrize("k", [1, 30, 1500])
def test_missed_steps_are_made_up_for(
    device: torch.device, last: int, k: int, decay: float, schedule: str
) -> None:
    optimizer = {"optimizer": "adamw", "weight_decay": decay} if decay else {}
    settings = replace(SETTINGS, learning_rate=0.001, learning_rate_schedule=schedule, **optimizer)
    engine = on_device(settings, device)
    start, first, second = random_moments()
    arrays = {"table": start, "first": first, "second": second, "last": np.full(ROWS, last)}
    state = {name: torch.from_numpy(array) for name, array in arrays.items()}
    engine.restore({**state, "steps": torch.tensor(last)})
    engine.steps_done += k
    moments = tuple(array.astype(np.float64) for array in (start, first, second))
    movement = plain_adam(moments, last, k, decay, schedule) - start
    np.testing.assert_allclose(
        engine.table() - start, movement, rtol=3e-4, atol=3e-4 * float(np.abs(movement).mean())
    )
    engine.embed(Sentences(np.arange(ROWS, dtype=np.int32), np.arange(ROWS + 1)))
    np.testing.assert_allclose(engine.state()["second"], second * 0.999**k, rtol=1e-4)


def test_loss_and_gradient_are_those_of_autograd(device: torch.device) -> None:
    vectors = torch.randn(20, 4, 16, generator=torch.Generator().manual_seed(0)).to(device)
    vectors[0, 0], vectors[1], vectors[2, 1] = 0.0, 0.0, vectors[2, 0]
    valid = torch.rand(20, 2, generator=torch.Generator().manual_seed(1)).to(device) > 0.2
    hinge, factors = hinge_and_factors(vectors @ vectors.mT, valid, 0.4)
    loss, gradients = hinge.sum(), factors @ vectors
    leaf = vectors.clone().requires_grad_()
    expected = margin_loss(leaf.unbind(1), valid=valid.T, margin=0.4)
    expected.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    scale = float(leaf.grad[3:].abs().max())
    torch.testing.assert_close(gradients[3:], leaf.grad[3:], rtol=1e-4, atol=1e-5 * scale)
    torch.testing.assert_close(
        gradients[:3], leaf.grad[:3], rtol=1e-4, atol=1e-5 * float(leaf.grad.abs().max())
    )
    assert not hinge_and_factors(vectors @ vectors.mT, torch.zeros_like(valid), 0.4)[1].any()


def test_a_loss_that_is_not_a_number_stays_one(device: torch.device) -> None:
    vectors = torch.ones(2, 4, 8, device=device)
    vectors[1, 0, 3] = torch.nan
    valid = torch.zeros(2, 2, dtype=torch.bool, device=device)
    assert hinge_and_factors(vectors @ vectors.mT, valid, 0.4)[0].sum().isnan()


@pytest.mark.parametrize("optimizer", ["adam", "lazy_adam"])
def test_asking_changes_nothing_and_a_state_goes_on_as_if_nothing_had_been(
    device: torch.device, optimizer: str
) -> None:
    settings = replace(SETTINGS, dropout=0.2, optimizer=optimizer)
    plain, asked, restored = (on_device(settings, device) for _ in range(3))
    for number, (sentences, *_) in enumerate(random_megabatches(20)):
        results = [engine.train(sentences) for engine in (plain, asked)]
        assert np.array_equal(asked.table(), plain.table())
        if number > 9:
            results.append(restored.train(sentences))
        if number == 9:
            restored.restore(asked.state())
        assert all(result == results[0] for result in results)
    for engine in (asked, restored):
        for name, tensor in plain.state().items():
            assert torch.equal(engine.state()[name], tensor), name


def test_dropout_has_its_rate_and_its_gradient_the_same_entries(device: torch.device) -> None:
    """The first moment m shows the mask: with one token per sentence, it is zero for dropped entries."""
    settings = replace(SETTINGS, dimension=64, dropout=0.25)
    n = (ROWS - 1) // 4
    engine = DeviceEngine(initial_table(settings), replace(settings, batch_size=n), device, steps=0)
    sentences = Sentences(np.arange(2 * n, dtype=np.int32), np.arange(2 * n + 1))
    # Each sentence is its own negative but has a different mask, so all terms of the hinge are active.
    (loss,) = train_on(engine, (sentences, np.arange(2 * n), np.ones(2 * n, np.bool_)))
    gradient = engine.state()["first"][: 2 * n] / 0.1
    assert np.isfinite(loss)
    kept = (gradient != 0).float().mean().item()
    # The gradient of an entry is missing only if both masks dropped it.
    assert kept == pytest.approx(1 - 0.25**2, abs=0.03)
    masks = [engine._kept(400, 64).cpu()]
    assert torch.equal(engine._kept(400, 64).cpu(), masks[0])
    engine.steps_done += 1
    masks.append(engine._kept(400, 64).cpu())
    assert masks[0].mean().item() == pytest.approx(0.75, abs=0.01)
    assert abs(((masks[0] - 0.75) * (masks[1] - 0.75)).mean().item()) < 0.005


def test_dropout_is_right_on_average(device: torch.device) -> None:
    """Averaged over many masks, the gradient equals that of autograd, which draws other masks."""
    settings = replace(SETTINGS, dropout=0.3)
    megabatch = next(random_megabatches(1, batches=2))
    sums, expected = torch.zeros(ROWS, settings.dimension), torch.zeros(ROWS, settings.dimension)
    encoder = AveragedEmbeddings(ROWS, settings.dimension, init_std=1.0, seed=1, dropout=0.3)
    for seed in range(150):
        single = (megabatch[0], megabatch[1], megabatch[2])
        engine = DeviceEngine(
            initial_table(settings), replace(settings, seed=seed, batch_size=100), device, steps=0
        )
        train_on(engine, single)
        sums += engine.state()["first"] / 0.1
        encoder.table.data.copy_(initial_table(settings))
        dense = AutogradEngine(encoder, replace(settings, seed=seed), steps=0)
        sentences, negatives, valid = single
        own = np.arange(len(sentences))
        dense.step(sentences, np.concatenate([own, negatives]), valid.reshape(2, -1))
        expected += dense.encoder.table.grad
    difference = (sums - expected).norm() / expected.norm()
    assert difference < 0.15


@pytest.mark.slow("compiles functions as for a GPU")
def test_the_functions_are_compiled_whole(device: torch.device) -> None:
    """On a GPU, each function has to be a single graph that works for all sizes."""
    if device.type != "cpu":
        pytest.skip("on a GPU all other tests run them compiled")
    torch._dynamo.reset()
    generator = torch.Generator().manual_seed(0)
    seen = {"graphs": 0}

    def counting(graph: torch.fx.GraphModule, _: object) -> torch.fx.GraphModule:
        seen["graphs"] += 1
        return graph

    compiled = [
        torch.compile(function, dynamic=True, fullgraph=True, backend=counting)
        for function in (caught_up, adam, hinge_and_factors)
    ]
    for n in (7, 12, 31):
        rows = torch.rand(n, 3, 16, generator=generator)
        missed, constants = torch.rand(n, 6, generator=generator), torch.rand(3, generator=generator)
        vectors, valid = torch.randn(n, 4, 16, generator=generator), torch.ones(n, 2, dtype=torch.bool)
        products = vectors @ vectors.mT
        arguments = [
            (rows, missed),
            (rows, rows[:, 0], rows[:, 1], missed, constants),
            (products, valid, 0.4),
        ]
        for function, ours, given in zip(
            (caught_up, adam, hinge_and_factors), compiled, arguments, strict=True
        ):
            torch.testing.assert_close(ours(*given), function(*given))
    assert seen["graphs"] == 3


def test_autograd_trains_lstms_on_the_device_as_on_the_processor(device: torch.device) -> None:
    architecture = Architecture(parts=(Part(kind="bilstm", pooling="max"), Part(kind="lstm"), Part()))
    units = [UnitTable("subword", np.arange(ROWS - 1, dtype=np.int32), (ROWS - 1,), ())]
    settings = replace(SETTINGS, learning_rate=0.001)
    torch.use_deterministic_algorithms(True)
    theirs, ours = (
        AutogradEngine(initial_encoder(units, settings, architecture), settings, device=where, steps=STEPS)
        for where in (torch.device("cpu"), device)
    )
    megabatches = list(random_megabatches(4))
    for megabatch in megabatches[:3]:
        np.testing.assert_allclose(step_through(ours, megabatch), step_through(theirs, megabatch), rtol=1e-3)
        np.testing.assert_allclose(
            ours.embed(megabatch[0]).cpu(),
            theirs.embed(megabatch[0]),
            atol=1e-3 if device.type == "cuda" else 0,
        )
    again = AutogradEngine(
        initial_encoder(units, settings, architecture), settings, device=device, steps=STEPS
    )
    again.restore({name: tensor.clone() for name, tensor in ours.state().items()})
    assert step_through(again, megabatches[3]) == step_through(ours, megabatches[3])
