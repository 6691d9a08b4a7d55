"""Test the search for the nearest rows of a matrix against sorting all cosines."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from paraphrastic import InputError, search
from paraphrastic.neighbours import matrix_search, nearest
from paraphrastic.neighbours.bounds import Bound
from paraphrastic.neighbours.duplicates import near_duplicates
from paraphrastic.neighbours.nearest import Neighbours
from paraphrastic.neighbours.parts import multiplying_workers


def plainly(vectors: np.ndarray, queries: np.ndarray, k: int, min_score: float | None) -> Neighbours:
    """Return the k nearest rows without zero vectors; if some are equally near, the first ones win."""
    x, y = (side.astype(np.float32).astype(np.float64) for side in (queries, vectors))
    norms = [np.linalg.norm(side, axis=1) for side in (x, y)]
    cosines = x @ y.T / np.maximum(np.outer(*norms), 1e-300)
    # Sums in a different order agree only in the digits that are kept.
    cosines = cosines.round(12)
    cosines[norms[0] == 0] = -np.inf
    cosines[:, norms[1] == 0] = -np.inf
    if min_score is not None:
        cosines[cosines < min_score] = -np.inf
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    cosines = np.take_along_axis(cosines, order, axis=1)
    return Neighbours(np.where(np.isinf(cosines), -1, order), cosines)


def agree(found: Neighbours, expected: Neighbours) -> None:
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.cosines, expected.cosines, atol=1e-11)


def matrices(n: int, q: int, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with copies, opposites, other lengths and zeros, and queries near to rows or zero."""
    generator = np.random.default_rng(n + q + dim)
    vectors = generator.normal(size=(n, dim)).astype(np.float32)
    queries = generator.normal(size=(q, dim)).astype(np.float32)
    queries[: min(n, q) // 2] += vectors[: min(n, q) // 2]
    if n > 20:
        vectors[n // 2 : n // 2 + 5] = vectors[:5]
        vectors[n // 2 + 5 : n // 2 + 10] = -4 * vectors[:5]
        vectors[3:40:9] = 0
    queries[5::7] = 0
    return vectors, queries


SIZES = [(1, 1, 3), (50, 3, 4), (400, 1, 16), (700, 40, 24), (900, 200, 5), (0, 4, 6), (30, 0, 6)]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("block", "threads"), [(None, 1), (100, 2), (4000, 3)])
def test_the_nearest_rows_are_found(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int, int], block: int | None, threads: int
) -> None:
    if block:
        monkeypatch.setattr(matrix_search, "BLOCK_NUMBERS", block)
    monkeypatch.setattr(nearest, "PART_ROWS", 10)
    vectors, queries = matrices(*size)
    for k, min_score in ((1, None), (7, None), (10, 0.3), (1000, None), (1000, 0.0)):
        found = search(vectors, queries, k, min_score=min_score, threads=threads)
        assert found.indices.shape == found.cosines.shape == (len(queries), min(k, len(vectors)))
        agree(found, plainly(vectors, queries, k, min_score))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_arrays_of_any_kind(kind: type, tmp_path: Path) -> None:
    vectors, queries = (side.astype(kind) for side in matrices(300, 30, 20))
    expected = plainly(vectors, queries, 5, None)
    agree(search(vectors, queries, 5), expected)
    agree(search(np.asfortranarray(vectors), queries[::-1][::-1], 5), expected)
    np.save(tmp_path / "v.npy", vectors)
    agree(search(np.load(tmp_path / "v.npy", mmap_mode="r"), queries, 5), expected)


def test_doubles_beyond_the_range_of_single_precision() -> None:
    vectors, queries = (side.astype(np.float64) for side in matrices(300, 30, 20))
    expected = plainly(vectors, queries, 5, None)
    sizes = np.logspace(-290, 290, 300)[:, None]
    agree(search(vectors * sizes, queries * 1e-60, 5), expected)
    vectors[7, 3] = np.inf
    with pytest.raises(InputError, match="vectors: row 8 has numbers that are not finite"):
        search(vectors, queries, 5)


def test_the_first_row_that_is_not_finite_is_named() -> None:
    vectors, queries = matrices(40, 3, 6)
    vectors[[0, 9]] = np.nan
    with pytest.raises(InputError, match=r"^vectors: row 1 has numbers that are not finite$"):
        search(vectors, queries, 5)


def test_numpy_has_its_threads_back() -> None:
    def threads() -> list[int]:
        # Other packages may have loaded their own BLAS.
        return [pool["num_threads"] for pool in threadpool_info() if "numpy" in pool["filepath"]]

    inside: list[int] = []
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        search(*matrices(900, 200, 5), 5, progress=lambda _: inside.extend(threads()))
        assert threads() == before
    assert 2 in before
    assert set(inside) == {1}


def test_lists_of_numbers() -> None:
    assert search([[1.0, 0.0], [0.0, 1.0]], [[0.0, 2.0]], 1).indices.tolist() == [[1]]
    assert near_duplicates([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]], 0.9).kept.tolist() == [0, 2]


def test_groups_of_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_search, "QUERY_NUMBERS", 20 * 7)
    vectors, queries = matrices(300, 30, 20)
    shares: list[float] = []
    agree(search(vectors, queries, 5, progress=shares.append), plainly(vectors, queries, 5, None))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_few_queries_import_nothing_to_multiply_with(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def whole_bound(dim: int, pairs: float) -> Bound:
        asked.append(pairs)
        return Bound(dim)

    monkeypatch.setattr(matrix_search, "whole_bound", whole_bound)
    vectors = np.eye(9, dtype=np.float32)
    for queries in (1, 2, 3):
        search(vectors, vectors[:queries])
    assert asked == [0, 0, 27]


def test_torch_has_its_threads_again() -> None:
    before = torch.get_num_threads()
    with multiplying_workers(1):
        assert torch.get_num_threads() == 1
        with multiplying_workers(1):
            assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_lengths_do_not_count() -> None:
    generator = np.random.default_rng(0)
    vectors, queries = generator.normal(size=(400, 30)), generator.normal(size=(40, 30))
    expected = search(vectors.astype(np.float32), queries.astype(np.float32), 6)
    scales = 2.0 ** generator.integers(-100, 100, size=400)
    found = search((vectors * scales[:, None]).astype(np.float32), queries.astype(np.float32), 6)
    agree(found, expected)


@pytest.mark.parametrize("largest", [1.0, 1e-14, 1e-25, 1e14, 1e25])
def test_one_query_finds_what_many_find(largest: float) -> None:
    generator = np.random.default_rng(0)
    queries = generator.normal(size=(40, 600)).astype(np.float32)
    # The cosines differ by less than the rounding of the products.
    near = queries[0] + 1e-4 * generator.normal(size=(300, 600))
    vectors = (largest * np.concatenate([near, generator.normal(size=(300, 600))])).astype(np.float32)
    generator.shuffle(vectors)
    together = search(vectors, queries, 20)
    for count in (1, nearest.FEW):
        found = search(vectors, queries[:count], 20)
        np.testing.assert_array_equal(found.indices, together.indices[:count])
        np.testing.assert_array_equal(found.cosines, together.cosines[:count])


def test_of_many_equals_the_first_are_found() -> None:
    generator = np.random.default_rng(0)
    vectors = np.repeat(generator.normal(size=(3, 50)), 2000, axis=0).astype(np.float32)
    for count in (2, 20):
        found = search(vectors, vectors[:: 6000 // count], 4)
        expected = np.repeat([[0], [2000], [4000]], -(-count // 3), axis=0)[:count]
        np.testing.assert_array_equal(
            np.sort(found.indices // 2000 * 2000, axis=1)[:, :1], np.sort(expected, axis=0)
        )
        assert (found.indices % 2000 == [0, 1, 2, 3]).all()


def test_a_score_that_only_rounding_takes_below_counts() -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 7)).astype(np.float32)
    found = search(vectors, 3 * vectors, 2, min_score=1.0)
    np.testing.assert_array_equal(found.indices[:, 0], np.arange(50))
    assert (found.indices[:, 1] == -1).all()


@pytest.mark.parametrize(
    ("vectors", "queries", "message"),
    [
        (np.ones((3, 4)), np.ones((2, 5)), r"^vectors has rows of 4 dimensions, but queries have 5$"),
        (np.ones(4), np.ones((2, 5)), r"^vectors: not rows of floating-point numbers, but float64 \(4,\)$"),
        (np.ones((3, 4), int), np.ones((2, 4)), r"^vectors: not rows of floating-point numbers, but int64"),
        (np.ones((3, 4)), np.ones((2, 4), object), r"^queries: not rows of floating-point numbers"),
    ],
)
def test_arguments_that_do_not_fit(vectors: np.ndarray, queries: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        search(vectors, queries)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("count", [1, 30])
def test_a_number_that_is_not_finite_is_named(
    monkeypatch: pytest.MonkeyPatch, value: float, count: int
) -> None:
    monkeypatch.setattr(matrix_search, "BLOCK_NUMBERS", 4 * 30)
    vectors, queries = matrices(100, count, 4)
    vectors[76, 2] = value
    with pytest.raises(InputError, match=r"^vectors: row 77 has numbers that are not finite$"):
        search(vectors, queries)
    queries[count - 1, 0] = value
    with pytest.raises(InputError, match=rf"^queries: row {count} has numbers that are not finite$"):
        search(vectors, queries)


def test_no_rows_are_too_few() -> None:
    with pytest.raises(InputError, match="k is 0"):
        search(np.ones((3, 4)), np.ones((2, 4)), 0)


@pytest.mark.slow("compiles the kernels for another processor")
def test_another_processor_finds_the_same(tmp_path: Path) -> None:
    vectors, queries = matrices(700, 40, 24)
    np.save(tmp_path / "vectors.npy", vectors)
    np.save(tmp_path / "queries.npy", queries)
    code = f"""
import numpy as np
from paraphrastic import search
found = search(*(np.load({str(tmp_path)!r} + f"/{{name}}.npy") for name in ("vectors", "queries")), 7)
np.save({str(tmp_path / "found.npy")!r}, found.indices)
"""
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": "generic",
        "OPENBLAS_CORETYPE": "Haswell",
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
    }
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), search(vectors, queries, 7).indices)


def test_vectors_of_no_and_of_many_dimensions() -> None:
    empty = np.zeros((9, 0), np.float32)
    assert (search(empty, np.zeros((40, 0), np.float32), 3).indices == -1).all()
    vectors = np.random.default_rng(0).normal(size=(70, 70_000)).astype(np.float32)
    agree(search(vectors, vectors[:20], 3), plainly(vectors, vectors[:20], 3, None))
    # Now all signs are equal.
    vectors = np.abs(vectors[:, :32_768])
    agree(search(vectors, vectors[:20], 3), plainly(vectors, vectors[:20], 3, None))
