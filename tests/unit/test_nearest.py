"""Test nearest neighbours against sorting all similarities."""

from zlib import crc32

import numpy as np
import pytest
from bounded import WHOLE, bound_of

from paraphrastic.neighbours import nearest
from paraphrastic.neighbours.nearest import Neighbours, nearest_neighbours
from paraphrastic.neighbours.vectors import direction_entries


def similarities(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return cosines in double precision; a zero vector has the cosine 0 with every other vector."""
    norms = [np.linalg.norm(side.astype(np.float64), axis=1, keepdims=True) for side in (x, y)]
    first, second = (side / np.where(norm > 0, norm, 1) for side, norm in zip((x, y), norms, strict=True))
    return first @ second.T


def agree(found: Neighbours, cosines: np.ndarray, k: int, tolerance: float = 1e-6) -> None:
    """Assert that no other vector is nearer than the found neighbours, apart from rounding."""
    k = min(k, cosines.shape[1])
    assert found.indices.shape == found.cosines.shape == (len(cosines), k)
    assert all(len(set(row)) == k for row in found.indices.tolist())
    own = np.take_along_axis(cosines, found.indices.astype(np.int64), axis=1)
    np.testing.assert_allclose(own, np.sort(cosines, axis=1)[:, ::-1][:, :k], atol=tolerance)
    np.testing.assert_allclose(found.cosines, own, atol=tolerance)
    assert (np.diff(found.cosines, axis=1) <= 0).all()


def translated(n: int, m: int, dim: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors in groups, and a second set of which one half is near to vectors of the first."""
    generator = np.random.default_rng(seed)
    topics = generator.normal(size=(20, dim))
    x, y = (topics[generator.integers(20, size=size)] + generator.normal(size=(size, dim)) for size in (n, m))
    shared = min(n, m) // 2
    y[:shared] = x[:shared] + 0.5 * generator.normal(size=(shared, dim))
    return x.astype(np.float32), generator.permutation(y).astype(np.float32)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "PART_ROWS", 30)
    monkeypatch.setattr(nearest, "PART_COLUMNS", 50)
    monkeypatch.setattr(nearest, "PANEL", 200)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("in_16_bits", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_neighbours_are_the_nearest(kind: str, in_16_bits: bool, threads: int) -> None:
    x, y = translated(500, 700, 40)
    sides = (direction_entries(side, in_16_bits=in_16_bits) for side in (x, y))
    forward, backward = nearest_neighbours(*sides, 4, threads=threads, bound=bound_of(y, kind))
    tolerance = 3e-5 if in_16_bits else 1e-6
    agree(forward, similarities(x, y), 4, tolerance)
    agree(backward, similarities(y, x), 4, tolerance)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("swapped", [False, True])
def test_neighbours_that_only_rounding_could_confuse_are_told_apart(kind: str, swapped: bool) -> None:
    generator = np.random.default_rng(0)
    middle = np.eye(200)[0]
    around = generator.normal(size=(150, 200)) * (1 - middle)
    y = middle + around / np.linalg.norm(around, axis=1, keepdims=True)
    # Each vector of y has itself as a neighbour. All of y are equally far from the other vectors of x, apart
    # from less than a product is rounded by.
    x = np.concatenate([y, middle + 1e-6 * generator.normal(size=(50, 200))]).astype(np.float32)
    y = y.astype(np.float32)
    sides = (y, x) if swapped else (x, y)
    found = nearest_neighbours(*sides, 1, bound=bound_of(sides[1], kind))
    for own, cosines in zip(found, (similarities(*sides), similarities(*sides[::-1])), strict=True):
        np.testing.assert_array_equal(own.indices[:, 0], cosines.argmax(axis=1))


@pytest.mark.parametrize("kind", WHOLE)
def test_of_equals_the_first_is_taken(kind: str) -> None:
    x, y = translated(300, 400, 24)
    y[200:] = y[:200]
    x[7] = y[3]
    forward, backward = nearest_neighbours(x, y, 2, bound=bound_of(y, kind))
    # Every nearest neighbour has a copy, which is the second nearest.
    np.testing.assert_array_equal(forward.indices[:, 1], forward.indices[:, 0] + 200)
    assert forward.indices[7].tolist() == [3, 203]
    assert forward.cosines[7] == pytest.approx([1.0, 1.0])
    np.testing.assert_array_equal(backward.indices[:200], backward.indices[200:])


@pytest.mark.parametrize("kind", WHOLE)
def test_sets_of_any_size(kind: str) -> None:
    for n, m in ((1, 1), (1, 9), (2, 3), (33, 1), (40, 24), (24, 25)):
        x, y = translated(n, m, 5)
        bound = bound_of(y, kind)
        forward, backward = nearest_neighbours(x, y, 4, bound=bound)
        agree(forward, similarities(x, y), 4)
        agree(backward, similarities(y, x), 4)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("threads", [1, 3])
def test_of_many_equals_the_first_are_taken(kind: str, threads: int) -> None:
    x, y = np.ones((700, 6), np.float32), translated(10, 300, 6)[1]
    _, backward = nearest_neighbours(x, y, 4, threads=threads, bound=bound_of(y, kind))
    assert (backward.indices == [0, 1, 2, 3]).all()


def test_zero_vectors_are_near_to_nothing() -> None:
    x, y = translated(50, 60, 8)
    x[4], y[:40] = 0, 0
    forward, backward = nearest_neighbours(x, y, 4)
    assert forward.indices[4].tolist() == [0, 1, 2, 3]
    assert not forward.cosines[4].any()
    agree(forward, similarities(x, y), 4)
    assert not backward.cosines[:40].any()
    # A vector of zeros hides none that come after it in its block.
    x, y = translated(50, 60, 8)
    y[5] = 0
    forward, backward = nearest_neighbours(-np.abs(x), np.abs(y), 58)
    agree(forward, similarities(-np.abs(x), np.abs(y)), 58)
    nothing = np.zeros((3, 8), np.float32)
    forward, _ = nearest_neighbours(nothing, nothing, 2)
    assert forward.indices.tolist() == [[0, 1]] * 3


@pytest.mark.usefixtures("small_blocks")
def test_threads_change_nothing() -> None:
    # Rounding makes many cosines equal.
    x, y = map(np.round, translated(700, 900, 16))
    one, three = (nearest_neighbours(x, y, 4, threads=threads) for threads in (1, 3))
    for first, second in zip(one, three, strict=True):
        np.testing.assert_array_equal(first.indices, second.indices)
        np.testing.assert_array_equal(first.cosines, second.cosines)


@pytest.mark.parametrize(("in_16_bits", "tolerance"), [(False, 1e-6), (True, 5e-5)])
def test_directions_keep_cosines(in_16_bits: bool, tolerance: float) -> None:
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(200, 300)).astype(np.float32)
    vectors[:50] *= np.geomspace(1e-30, 1e30, 50)[:, None]
    vectors[50:60, 0] = 1000
    entries = direction_entries(vectors, in_16_bits=in_16_bits)
    np.testing.assert_allclose(similarities(entries, entries), similarities(vectors, vectors), atol=tolerance)
    assert entries.nbytes * (2 if in_16_bits else 1) == vectors.nbytes


@pytest.mark.usefixtures("small_blocks")
def test_progress_ends_with_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = translated(300, 450, 8)
    shares: list[float] = []
    nearest_neighbours(x, y, 1, progress=shares.append)
    assert shares == sorted(shares)
    assert len(set(shares)) > 10
    assert shares[-1] == 1.0

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    compared = []
    offer_block = nearest.offer_block
    monkeypatch.setattr(
        nearest, "offer_block", lambda *arguments: compared.append(1) or offer_block(*arguments)
    )
    nearest_neighbours(x, y, 1)
    everything = len(compared)
    compared.clear()
    with pytest.raises(KeyboardInterrupt):
        nearest_neighbours(x, y, 1, threads=2, progress=interrupt)
    # The other thread finishes only its current block.
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
                vectors[row, crc32(text[start : start + 3].encode()) % 200] += 1
        sides.append(vectors)
    for kind in WHOLE:
        bound = bound_of(sides[1], kind)
        found = nearest_neighbours(*sides, 4, threads=2, bound=bound)
        agree(found[0], similarities(*sides), 4)
        agree(found[1], similarities(*sides[::-1]), 4)
