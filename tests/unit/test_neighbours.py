"""Nearest neighbours, against all similarities sorted."""

import numpy as np
import pytest

from paraphrastic.base.threads import Workers
from paraphrastic.search import neighbours
from paraphrastic.search.choice import plan_for_neighbours, plan_for_threshold
from paraphrastic.search.directions import Directions
from paraphrastic.search.neighbours import Neighbours, nearest_neighbours
from paraphrastic.search.plans import Plan
from paraphrastic.search.sketches import Sketch, bounds
from paraphrastic.search.tiles import HAS_BYTES, ROWS, WIDTH

# Bits of codes, and the share of the dimensions that are kept.
CODES = [(8, 1), (8, 0.4), (16, 1), (16, 0.4)] if HAS_BYTES else [(16, 1), (16, 0.4)]


def plan_of(vectors: np.ndarray, codes: tuple[int, float]) -> Plan:
    bits, share = codes
    dim = vectors.shape[1]
    generator = np.random.default_rng(0)
    basis = np.linalg.qr(generator.normal(size=(dim, dim)))[0][:, : max(1, int(share * dim))]
    units = Directions.of(vectors).units()
    return Plan.of(units, in_bytes=bits == 8, basis=None if share == 1 else basis.astype(np.float32))


def similarities(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Cosines in double precision; those with a zero vector are 0."""
    norms = [np.linalg.norm(side.astype(np.float64), axis=1, keepdims=True) for side in (x, y)]
    first, second = (side / np.where(norm > 0, norm, 1) for side, norm in zip((x, y), norms, strict=True))
    return first @ second.T


def agree(found: Neighbours, cosines: np.ndarray, k: int, tolerance: float = 1e-6) -> None:
    """The neighbours are the nearest ones: no other is nearer by more than rounding can tell."""
    k = min(k, cosines.shape[1])
    assert found.indices.shape == found.cosines.shape == (len(cosines), k)
    assert all(len(set(row)) == k for row in found.indices.tolist())
    own = np.take_along_axis(cosines, found.indices.astype(np.int64), axis=1)
    np.testing.assert_allclose(own, np.sort(cosines, axis=1)[:, ::-1][:, :k], atol=tolerance)
    np.testing.assert_allclose(found.cosines, own, atol=tolerance)
    assert (np.diff(found.cosines, axis=1) <= 0).all()


def translated(n: int, m: int, dim: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Vectors in groups, and others near to some of them."""
    generator = np.random.default_rng(seed)
    topics = generator.normal(size=(20, dim))
    x, y = (topics[generator.integers(20, size=size)] + generator.normal(size=(size, dim)) for size in (n, m))
    shared = min(n, m) // 2
    y[:shared] = x[:shared] + 0.5 * generator.normal(size=(shared, dim))
    return x.astype(np.float32), generator.permutation(y).astype(np.float32)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "BLOCK_ROWS", 5 * ROWS)
    monkeypatch.setattr(neighbours, "PANEL", 3 * WIDTH)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("in_16_bits", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_neighbours_are_the_nearest(codes: tuple[int, float], in_16_bits: bool, threads: int) -> None:
    x, y = translated(500, 700, 40)
    sides = (Directions.of(side, in_16_bits=in_16_bits) for side in (x, y))
    forward, backward = nearest_neighbours(*sides, 4, threads=threads, plan=plan_of(y, codes))
    tolerance = 3e-5 if in_16_bits else 1e-6
    agree(forward, similarities(x, y), 4, tolerance)
    agree(backward, similarities(y, x), 4, tolerance)


@pytest.mark.parametrize("codes", CODES)
def test_of_equals_the_first_is_taken(codes: tuple[int, float]) -> None:
    x, y = translated(300, 400, 24)
    y[200:] = y[:200]
    x[7] = y[3]
    forward, backward = nearest_neighbours(Directions.of(x), Directions.of(y), 2, plan=plan_of(y, codes))
    # Every nearest one has a copy, which comes next.
    np.testing.assert_array_equal(forward.indices[:, 1], forward.indices[:, 0] + 200)
    assert forward.indices[7].tolist() == [3, 203]
    assert forward.cosines[7] == pytest.approx([1.0, 1.0])
    np.testing.assert_array_equal(backward.indices[:200], backward.indices[200:])


@pytest.mark.parametrize("codes", CODES)
def test_sets_of_any_size(codes: tuple[int, float]) -> None:
    for n, m in ((1, 1), (1, 9), (2, 3), (33, 1), (40, 24), (24, 25)):
        x, y = translated(n, m, 5)
        plan = plan_of(y, codes)
        forward, backward = nearest_neighbours(Directions.of(x), Directions.of(y), 4, plan=plan)
        agree(forward, similarities(x, y), 4)
        agree(backward, similarities(y, x), 4)


@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("in_16_bits", [False, True])
def test_products_of_codes_bound_cosines(codes: tuple[int, float], in_16_bits: bool) -> None:
    generator = np.random.default_rng(0)
    x, y = translated(150, 250, 60)
    # Zero; one entry alone; one that is much larger than the others; and others of any length.
    x[3], y[7] = 0, 0
    x[4], y[8] = np.eye(60)[2], np.eye(60)[2]
    x[5, 9], y[9, 9] = 40, -40
    y[10:40] *= np.geomspace(1e-30, 1e30, 30)[:, None]
    y[40:60] = x[40:60]
    plan = plan_of(generator.normal(size=(100, 60)).astype(np.float32), codes)
    if plan.basis is not None:
        # Nothing of it is kept.
        x[6] = y[6] = x[6] - plan.basis @ (x[6] @ plan.basis)
    sides = [Directions.of(side, in_16_bits=in_16_bits) for side in (x, y)]
    cosines = sides[0].units().astype(np.float64) @ sides[1].units().astype(np.float64).T
    excess = bounds(*(Sketch.of(side, plan, Workers(1)) for side in sides)) - cosines
    assert excess.min() >= 0
    # All dimensions: rounding is all that they are loose by.
    assert codes[1] < 1 or np.median(excess) < {8: 0.03, 16: 1e-3}[codes[0]]


def test_the_plan_fits_the_vectors() -> None:
    generator = np.random.default_rng(0)
    workers = Workers(1)
    flat = generator.normal(size=(3000, 64)).astype(np.float32)
    plan = plan_for_neighbours(Directions.of(flat), Directions.of(flat[::-1]), 4, workers)
    assert (plan.basis, plan.in_bytes) == (None, HAS_BYTES)
    # All cosines are within some thousandths, which eight bits do not tell apart.
    near = generator.normal(size=64) + 0.02 * generator.normal(size=(3000, 64))
    sides = [Directions.of(side.astype(np.float32)) for side in (near, near[::-1])]
    plan = plan_for_neighbours(*sides, 4, workers)
    assert (plan.basis, plan.in_bytes) == (None, False)
    agree(nearest_neighbours(*sides, 4)[0], similarities(near, near[::-1]), 4)
    # Few dimensions say of most pairs that they are far from near.
    low = generator.normal(size=(20_000, 8)) @ generator.normal(size=(8, 64))
    vectors = (low + 0.1 * generator.normal(size=low.shape)).astype(np.float32)
    plan = plan_for_threshold(Directions.of(vectors), 0.95, workers)
    assert plan.kept < 32


def test_vectors_that_do_not_fit_into_eight_bits_are_found() -> None:
    generator = np.random.default_rng(0)
    x, y = (generator.normal(size=(n, 200)).astype(np.float32) for n in (600, 1200))
    # Little but one entry, which is cut; and others that are nearest to these, and fit.
    spiky = np.arange(0, 1200, 240)
    y[spiky] *= 0.01
    y[spiky, np.arange(5)] += 1
    x[np.arange(60), np.arange(60) % 10] += 6
    forward, backward = nearest_neighbours(
        Directions.of(x), Directions.of(y), 4, plan=plan_of(x[60:], CODES[0])
    )
    agree(forward, similarities(x, y), 4)
    agree(backward, similarities(y, x), 4)
    near = [row for row in range(60) if row % 10 < 5]
    assert forward.indices[near, 0].tolist() == [spiky[row % 10] for row in near]


def test_the_rounding_of_the_other_side_counts() -> None:
    generator = np.random.default_rng(0)
    # Signs are exact in eight bits; vectors around them are not.
    x = np.sign(generator.normal(size=(20, 64))).astype(np.float32)
    y = np.repeat(x, 150, axis=0) + 0.05 * generator.normal(size=(3000, 64)).astype(np.float32)
    for codes in CODES:
        plan = plan_of(x, codes)
        forward, backward = nearest_neighbours(Directions.of(x), Directions.of(y), 4, plan=plan)
        agree(forward, similarities(x, y), 4)
        agree(backward, similarities(y, x), 4)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("threads", [1, 3])
def test_of_many_equals_the_first_are_taken(codes: tuple[int, float], threads: int) -> None:
    x, y = np.ones((700, 6), np.float32), translated(10, 300, 6)[1]
    sides = Directions.of(x), Directions.of(y)
    _, backward = nearest_neighbours(*sides, 4, threads=threads, plan=plan_of(y, codes))
    assert (backward.indices == [0, 1, 2, 3]).all()


def test_zero_vectors_are_near_to_nothing() -> None:
    x, y = translated(50, 60, 8)
    x[4], y[:40] = 0, 0
    forward, backward = nearest_neighbours(Directions.of(x), Directions.of(y), 4)
    assert forward.indices[4].tolist() == [0, 1, 2, 3]
    assert not forward.cosines[4].any()
    agree(forward, similarities(x, y), 4)
    assert not backward.cosines[:40].any()
    nothing = Directions.of(np.zeros((3, 8), np.float32))
    forward, _ = nearest_neighbours(nothing, nothing, 2)
    assert forward.indices.tolist() == [[0, 1]] * 3


@pytest.mark.usefixtures("small_blocks")
def test_threads_change_nothing() -> None:
    x, y = translated(700, 900, 16)
    y = np.round(y)  # many equal cosines
    x = np.round(x)
    sides = Directions.of(x), Directions.of(y)
    one, three = (nearest_neighbours(*sides, 4, threads=threads) for threads in (1, 3))
    for first, second in zip(one, three, strict=True):
        np.testing.assert_array_equal(first.indices, second.indices)
        np.testing.assert_array_equal(first.cosines, second.cosines)


@pytest.mark.parametrize(("in_16_bits", "tolerance"), [(False, 1e-6), (True, 5e-5)])
def test_directions_keep_cosines(in_16_bits: bool, tolerance: float) -> None:
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(200, 300)).astype(np.float32)
    vectors[:50] *= np.geomspace(1e-30, 1e30, 50)[:, None]
    vectors[50:60, 0] = 1000
    directions = Directions.empty(200, 300, in_16_bits=in_16_bits)
    for start in range(0, 200, 64):
        directions.fill(start, vectors[start : start + 64])
    whole = Directions.of(vectors, in_16_bits=in_16_bits)
    np.testing.assert_array_equal(directions.entries, whole.entries)
    units = directions.units().astype(np.float64)
    np.testing.assert_allclose(units @ units.T, similarities(vectors, vectors), atol=tolerance)
    assert directions.entries.nbytes * (2 if in_16_bits else 1) == vectors.nbytes


@pytest.mark.usefixtures("small_blocks")
def test_progress_ends_with_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = (Directions.of(side) for side in translated(300, 450, 8))
    shares: list[float] = []
    nearest_neighbours(x, y, 1, progress=shares.append)
    assert shares == sorted(shares)
    assert len(set(shares)) > 10
    assert shares[-1] == 1.0

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    compared = []
    nearest = neighbours.nearest
    monkeypatch.setattr(neighbours, "nearest", lambda *arguments: compared.append(1) or nearest(*arguments))
    nearest_neighbours(x, y, 1)
    everything = len(compared)
    compared.clear()
    with pytest.raises(KeyboardInterrupt):
        nearest_neighbours(x, y, 1, threads=2, progress=interrupt)
    # The other thread ends with the block that it has.
    assert len(compared) < everything / 2


def test_real_sentences(mirror) -> None:
    folder = mirror / "raw.githubusercontent.com/facebookresearch/LASER/main/data/tatoeba/v1"
    sides = []
    for code in ("deu", "eng"):
        sentences = (folder / f"tatoeba.deu-eng.{code}").read_text(encoding="utf-8").splitlines()
        vectors = np.zeros((len(sentences), 200), np.float32)
        for row, sentence in enumerate(sentences):
            text = f" {sentence.lower()} "
            for start in range(len(text) - 2):
                vectors[row, hash_of(text[start : start + 3]) % 200] += 1
        sides.append(vectors)
    for codes in CODES:
        plan = plan_of(sides[1], codes)
        found = nearest_neighbours(*map(Directions.of, sides), 4, threads=2, plan=plan)
        agree(found[0], similarities(*sides), 4)
        agree(found[1], similarities(*sides[::-1]), 4)


def hash_of(text: str) -> int:
    number = 0
    for character in text:
        number = number * 1_000_003 + ord(character)
    return number
