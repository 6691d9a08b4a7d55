"""The engine for GPUs, against the fused one and torch's dense optimizers, on the processor and on a GPU."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from small_corpus import sentence_pairs, write_training_data
from test_engine import ROWS, plain_adam
from test_mining import plain_search, unit_vectors
from test_training import CONFIG, SETTINGS
from training_runs import history, train_model

from paraphrastic.dataset import Sentences
from paraphrastic.errors import InputError
from paraphrastic.files import sha256
from paraphrastic.training import train
from paraphrastic.training.autograd import AutogradEngine
from paraphrastic.training.compiled import Team
from paraphrastic.training.device.choice import choose_device, first_free
from paraphrastic.training.device.engine import DeviceEngine
from paraphrastic.training.device.formulas import adam, caught_up, hinge_and_factors
from paraphrastic.training.device.mining import fingerprints, hardest_negatives
from paraphrastic.training.encoder import AveragedEmbeddings
from paraphrastic.training.fused import FusedEngine
from paraphrastic.training.loss import margin_loss
from paraphrastic.training.mining import hardest_negatives as on_processor
from paraphrastic.training.settings import TrainingSettings

STEPS = 40_000
BATCH = 6


@pytest.fixture(autouse=True)
def _one_thread_of_torch() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU: torch sees none")
    deterministic = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    yield torch.device(request.param)
    torch.use_deterministic_algorithms(deterministic)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_training_data(tmp_path_factory.mktemp("data"), sentence_pairs(500))


def initial_table(settings: TrainingSettings) -> torch.Tensor:
    table = AveragedEmbeddings(ROWS, settings.dimension, init_std=1.0, seed=1).table.detach().clone()
    table[ROWS - 1] = 0.0
    return table


def on_device(settings: TrainingSettings, device: torch.device, *, steps: int = STEPS) -> DeviceEngine:
    settings = replace(settings, batch_size=BATCH)
    return DeviceEngine(initial_table(settings), settings, device, steps=steps)


def fused(settings: TrainingSettings, *, steps: int = STEPS) -> FusedEngine:
    return FusedEngine(initial_table(settings), settings, Team(1), steps=steps)


def random_megabatches(
    n: int, *, batches: int = 4, seed: int = 0
) -> Iterator[tuple[Sentences, np.ndarray, np.ndarray]]:
    """Mega-batches with negatives, of which the last mini-batch is short, and the things that go wrong.

    Empty sentences, zero vectors, repeated and very frequent tokens, a sentence as its own translation,
    missing negatives.
    """
    generator = np.random.default_rng(seed)
    pairs = batches * BATCH - 2
    for _ in range(n):
        lengths = generator.integers(1, 9, 2 * pairs)
        lengths[3] = 0
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        tokens = np.minimum(generator.geometric(0.1, offsets[-1]) - 1, ROWS - 2).astype(np.int32)
        tokens[generator.random(len(tokens)) < 0.3] = 0
        tokens[offsets[1] : offsets[2]] = ROWS - 1
        tokens[offsets[2] : offsets[3]] = tokens[offsets[2]]
        sentences = Sentences(tokens, offsets)
        order = np.arange(2 * pairs)
        order[5 + pairs] = 5
        yield (
            sentences.take(order),
            generator.integers(0, 2 * pairs, 2 * pairs),
            generator.random(2 * pairs) > 0.2,
        )


def train_on(engine: DeviceEngine, megabatch: tuple[Sentences, np.ndarray, np.ndarray]) -> list[float]:
    """The losses of a mega-batch with given negatives."""
    sentences, negatives, valid = megabatch
    moved = engine._moved(sentences)
    engine._embed(*moved)
    given = (torch.from_numpy(array).to(engine.device) for array in (negatives, valid))
    return engine.train_with(*moved, *given)


def step_through(
    engine: FusedEngine | AutogradEngine, megabatch: tuple[Sentences, np.ndarray, np.ndarray]
) -> list[float]:
    """The same, mini-batch after mini-batch."""
    sentences, negatives, valid = megabatch
    n = len(sentences) // 2
    engine.embed(sentences)
    losses = []
    for start in range(0, n, BATCH):
        own = np.arange(start, min(n, start + BATCH))
        own = np.concatenate([own, own + n])
        chosen = np.concatenate([own, negatives[own]])
        losses.append(engine.step(sentences, chosen, valid[own].reshape(2, -1)))
    return losses


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
    # Few steps with long gaps are enough: megabatches of which few touch a row.
    ours, theirs = on_device(settings, device, steps=200), fused(settings, steps=200)
    start = theirs.table()
    for number, megabatch in enumerate(random_megabatches(50)):
        np.testing.assert_allclose(train_on(ours, megabatch), step_through(theirs, megabatch), rtol=1e-4)
        if number in (0, 1, 12, 49):
            moved = np.abs(theirs.table() - start).mean()
            assert np.abs(ours.table() - theirs.table()).mean() < 1e-3 * moved
    assert np.array_equal(ours.state()["last"], theirs.last)
    # Rows are away for whole mega-batches, too, and come back.
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
    settings = replace(
        SETTINGS,
        learning_rate=0.001,
        learning_rate_schedule=schedule,
        optimizer="adamw" if decay else "adam",
        weight_decay=decay,
    )
    engine = on_device(settings, device)
    generator = np.random.default_rng(0)
    start, first = generator.normal(size=(2, ROWS, SETTINGS.dimension)).astype(np.float32)
    start *= 0.001
    # From what hides in ε to what is far above it.
    second = (10 ** generator.uniform(-18, 0, first.shape)).astype(np.float32)
    first *= np.sqrt(second)
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
    expected = margin_loss(*leaf.unbind(1), valid=valid.T, margin=0.4)
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


@pytest.mark.parametrize("either_side", [False, True])
@pytest.mark.parametrize("exclude_duplicates", [False, True])
@pytest.mark.parametrize("block_rows", [3, 1000])
def test_negatives_are_those_of_a_plain_search(
    device: torch.device, either_side: bool, exclude_duplicates: bool, block_rows: int
) -> None:
    vectors, ids = unit_vectors(80), [i % 23 for i in range(80)]
    options = {"either_side": either_side, "exclude_duplicates": exclude_duplicates}
    found = hardest_negatives(
        vectors.to(device), torch.tensor(ids, device=device), **options, bfloat16=False, block_rows=block_rows
    )
    assert found.tolist() == plain_search(vectors, ids, **options)


@pytest.mark.parametrize("either_side", [False, True])
def test_of_equals_the_processors_negative_is_chosen(device: torch.device, either_side: bool) -> None:
    vectors = torch.eye(16)[torch.arange(400) * 7 % 11]
    options = {"either_side": either_side, "exclude_duplicates": False}
    expected = on_processor(vectors, np.arange(400), Team(2), **options, precision="bfloat16")
    ids = torch.arange(400, device=device)
    for block_rows in (37, 4096):
        found = hardest_negatives(vectors.to(device), ids, **options, bfloat16=True, block_rows=block_rows)
        assert found.tolist() == expected.tolist()


def test_there_may_be_no_negative(device: torch.device) -> None:
    ids = torch.tensor([1, 1, 1, 2, 2, 2], device=device)
    options = {"either_side": True, "exclude_duplicates": True, "bfloat16": False}
    assert hardest_negatives(unit_vectors(6).to(device), ids, **options).tolist() == [-1] * 6
    assert hardest_negatives(unit_vectors(2).to(device), ids[2:4], **options).tolist() == [-1] * 2


def test_vectors_fingerprints_and_negatives_are_the_fused_engines(device: torch.device) -> None:
    settings = replace(SETTINGS, dimension=300, exclude_duplicates=True)
    ours, theirs = on_device(settings, device), fused(settings)
    for megabatch in random_megabatches(3):
        sentences = megabatch[0]
        moved = ours._moved(sentences)
        assert fingerprints(*moved).tolist() == sentences.fingerprints().view(np.int64).tolist()
        vectors = theirs.embed(sentences)
        np.testing.assert_allclose(ours.embed(sentences).cpu(), vectors, atol=1e-5)
        expected = on_processor(
            vectors, sentences.fingerprints().view(np.int64), Team(1),
            either_side=False, exclude_duplicates=True, precision="float32",
        )  # fmt: skip
        found = ours.negatives(*moved).tolist()
        # Sentences of the same words have the same vectors, up to a digit.
        same = (vectors * vectors[expected]).sum(1), (vectors * vectors[found]).sum(1)
        torch.testing.assert_close(*same, rtol=0, atol=2e-6)
        assert np.mean(expected == found) > 0.8
        assert ((expected < 0) == (np.array(found) < 0)).all()
        train_on(ours, megabatch)
        step_through(theirs, megabatch)


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
    """The mask is found from outside: with one token a sentence, what is left out is zero in m."""
    settings = replace(SETTINGS, dimension=64, dropout=0.25)
    n = (ROWS - 1) // 4
    engine = DeviceEngine(initial_table(settings), replace(settings, batch_size=n), device, steps=0)
    sentences = Sentences(np.arange(2 * n, dtype=np.int32), np.arange(2 * n + 1))
    # Each sentence is its own negative, with a mask of its own: all terms of the hinge are active.
    (loss,) = train_on(engine, (sentences, np.arange(2 * n), np.ones(2 * n, np.bool_)))
    gradient = engine.state()["first"][: 2 * n] / 0.1
    assert np.isfinite(loss)
    kept = (gradient != 0).float().mean().item()
    # An entry is without gradient only where it was left out both times.
    assert kept == pytest.approx(1 - 0.25**2, abs=0.03)
    masks = [engine._kept(400, 64).cpu()]
    assert torch.equal(engine._kept(400, 64).cpu(), masks[0])
    engine.steps_done += 1
    masks.append(engine._kept(400, 64).cpu())
    assert masks[0].mean().item() == pytest.approx(0.75, abs=0.01)
    assert abs(((masks[0] - 0.75) * (masks[1] - 0.75)).mean().item()) < 0.005


def test_dropout_is_right_on_average(device: torch.device) -> None:
    """The mean over many masks of a batch's gradient is that of the expected loss, by autograd."""
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


def test_the_functions_are_compiled_whole(device: torch.device) -> None:
    """On a GPU each is to be one graph for sizes of any number."""
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


def test_a_run_ends_as_the_fused_engines_and_goes_on_bit_for_bit(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: torch.device
) -> None:
    settings = replace(SETTINGS, learning_rate=0.003)
    expected = train_model(data, tmp_path / "fused", settings)
    if device.type == "cpu":
        # What a GPU's run does, on the processor.
        monkeypatch.setattr(
            train, "build_engine",
            lambda encoder, settings, team, *, device, anchors, steps: DeviceEngine(
                encoder.get_parameter("parts.0.table").detach(), settings, device, steps=steps
            ),
        )  # fmt: skip
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
            train_model(data, tmp_path / "stopped", settings)
    assert len(list((tmp_path / "stopped/checkpoints").glob("*.safetensors"))) == 2
    assert sha256(train_model(data, tmp_path / "stopped", settings)) == sha256(whole)


def test_a_rate_that_is_too_high_ends_with_the_mini_batch(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The losses of a mega-batch come at once; the line still names the mini-batch."""
    monkeypatch.setattr(
        train, "build_engine",
        lambda encoder, settings, team, *, device, anchors, steps: DeviceEngine(
            encoder.get_parameter("parts.0.table").detach(), settings, device, steps=steps
        ),
    )  # fmt: skip
    plain = DeviceEngine.train

    def spoilt(engine: DeviceEngine, sentences: Sentences) -> tuple[list[float], int]:
        losses, n = plain(engine, sentences)
        return ([*losses[:2], float("nan"), *losses[3:]] if len(losses) > 2 else losses), n

    monkeypatch.setattr(DeviceEngine, "train", spoilt)
    # Mega-batches: five of one mini-batch, three of two (the third ends after 11), and then three of three.
    with pytest.raises(InputError, match=r"the loss is nan in epoch 1, mini-batch 14: lower"):
        train_model(data, tmp_path / "model", SETTINGS)


def test_the_device_is_one_that_there_is(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert (choose_device("auto"), choose_device("cpu")) == ("cpu", "cpu")
    with pytest.raises(InputError, match=r"training\.device: cuda is asked for, but torch .* (sees|built)"):
        train.train_model(
            *data, tmp_path / "model", settings=replace(SETTINGS, device="cuda"), config=CONFIG, threads=1
        )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert (choose_device("auto"), choose_device("cpu"), choose_device("cuda")) == ("cuda", "cpu", "cuda")


def test_a_checkpoint_goes_on_on_its_own_kind_of_device(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identities = []
    plain = train._identity
    monkeypatch.setattr(train, "_identity", lambda *all_: identities.append(plain(*all_)) or identities[-1])
    for device in ("cpu", "auto"):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        train_model(data, tmp_path / device, replace(SETTINGS, epochs=1, device=device))
    assert identities[0] == identities[1]
    with train.PairDataset(data[0]) as pairs:
        assert plain(pairs, replace(SETTINGS, epochs=1, device="cuda"), 1, None, {}) != identities[0]


def test_runs_at_once_hold_gpus_of_their_own(tmp_path: Path) -> None:
    names = ["GPU-1", "GPU-2"]
    with ExitStack() as other:
        with ExitStack() as first, ExitStack() as second:
            assert first_free(names, tmp_path, first) == 0
            assert first_free(names, tmp_path, second) == 1
            assert first_free(names, tmp_path, other) is None
        assert first_free(names, tmp_path, other) == 0
