"""Test near duplicates among vectors against comparing all vectors one by one."""

import numpy as np
import pytest
from bounded import BOUNDS, bound_of

from paraphrastic.base.errors import InputError
from paraphrastic.neighbours import duplicates
from paraphrastic.neighbours.duplicates import Duplicates, near_duplicates
from paraphrastic.neighbours.vectors import direction_entries


def plainly(vectors: np.ndarray, threshold: float) -> list[int]:
    """Return for each vector the first earlier one that is kept and near, or -1."""
    vectors = vectors.astype(np.float64)
    norms = np.linalg.norm(vectors, axis=1)
    cosines = vectors @ vectors.T / np.maximum(np.outer(norms, norms), 1e-300)
    originals: list[int] = []
    for row in range(len(vectors)):
        kept = [i for i in range(row) if originals[i] == -1 and cosines[row, i] >= threshold - 1e-9]
        originals.append(kept[0] if kept else -1)
    return originals


def chained(n: int, dim: int) -> np.ndarray:
    """Return vectors, copies, near copies, zeros and opposites; some are near only to dropped vectors."""
    generator = np.random.default_rng(n)
    vectors = generator.normal(size=(n, dim)).astype(np.float32)
    for row in range(1, n):
        if row % 3:
            earlier = vectors[generator.integers(row)]
            vectors[row] = earlier + 0.25 * np.linalg.norm(earlier) / dim**0.5 * generator.normal(size=dim)
    vectors[n // 3 : n // 2 : 4] = vectors[: len(range(n // 3, n // 2, 4))] * 3
    vectors[n // 2 :: 11] *= -1
    vectors[::29] = 0
    return vectors


def check(found: Duplicates, vectors: np.ndarray, threshold: float) -> None:
    assert found.originals.tolist() == plainly(vectors, threshold)
    assert found.kept.tolist() == [i for i, other in enumerate(found.originals) if other == -1]
    dropped = np.flatnonzero(found.originals >= 0)
    first, second = (vectors[rows].astype(np.float64) for rows in (dropped, found.originals[dropped]))
    cosines = (first * second).sum(axis=1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
    np.testing.assert_allclose(found.cosines[dropped], cosines, atol=1e-6)
    assert not found.cosines[found.kept].any()


@pytest.mark.parametrize("kind", BOUNDS)
@pytest.mark.parametrize(("threads", "block"), [(1, 1), (5, 50), (1, 50), (2, 1024)])
def test_what_is_near_to_a_kept_one_is_left_out(
    monkeypatch: pytest.MonkeyPatch, kind: str, threads: int, block: int
) -> None:
    monkeypatch.setattr(duplicates, "BLOCK", block)
    monkeypatch.setattr(duplicates, "PART", 20)
    vectors = chained(250, 16)
    for threshold in (0.3, 0.8, 0.97):
        found = near_duplicates(vectors, threshold, threads=threads, bound=bound_of(vectors, kind))
        check(found, vectors, threshold)
    assert 0 < len(found.kept) < 250


def test_many_vectors() -> None:
    vectors = chained(1500, 48)
    found = near_duplicates(vectors, 0.9, threads=2)
    check(found, vectors, 0.9)
    assert 375 < len(found.kept) < 1300


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_vectors(n: int) -> None:
    found = near_duplicates(np.ones((n, 3), np.float32), 1.0)
    assert found.originals.tolist() == [-1, 0][:n]


def test_equal_vectors_reach_any_threshold() -> None:
    vectors = np.random.default_rng(0).normal(size=(200, 9)).astype(np.float32)
    doubled = np.concatenate([vectors, 3 * vectors])
    for in_16_bits in (False, True):
        found = near_duplicates(direction_entries(doubled, in_16_bits=in_16_bits), 1.0)
        assert found.originals.tolist() == [-1] * 200 + list(range(200))


def test_vectors_that_are_all_equal_take_little_time() -> None:
    found = near_duplicates(np.ones((30_000, 64), np.float32), 0.9)
    assert (found.originals[1:] == 0).all()


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "BLOCK", 1024)
    shares: list[float] = []
    near_duplicates(chained(3000, 8), 0.9, progress=shares.append)
    assert shares == sorted(shares)
    assert len(shares) == 3
    assert shares[-1] == 1.0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_named(value: float) -> None:
    vectors = chained(3000, 8)
    vectors[2000, 3] = value
    with pytest.raises(InputError, match=r"^vectors: row 2001 has numbers that are not finite$"):
        near_duplicates(vectors, 0.9)
