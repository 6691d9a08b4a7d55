"""Test the search for negatives in two looks."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from test_negative_mining import corners, mined, plain_search, ragged, unit_vectors
from torch import Tensor

from paraphrastic_pipeline.training import two_looks
from paraphrastic_pipeline.training.negative_search import NO_NEGATIVE


def near_a_subspace(n: int, dim: int, rank: int, rest: float) -> Tensor:
    """Pairs of vectors whose directions are mostly in a subspace."""
    frame = unit_vectors(rank, dim, seed=1)
    sources = torch.randn(n, rank, generator=torch.Generator().manual_seed(2)) @ frame
    targets = sources + 0.5 * torch.randn(n, rank, generator=torch.Generator().manual_seed(3)) @ frame
    vectors = torch.cat([sources, targets])
    return torch.nn.functional.normalize(vectors + rest * unit_vectors(2 * n, dim, seed=4))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two looks pay for anything, and the first one sees everything."""
    for name, value in {
        "_LEAST_DIMENSIONS": 0,
        "_LEAST_PAIRS": 0,
        "_SHARE": 1.0,
        "_FEWEST": 0,
        "_CANDIDATES": 1000,
    }.items():
        monkeypatch.setattr(two_looks, name, value)


@pytest.mark.parametrize("either_side", [False, True])
@pytest.mark.parametrize("exclude_duplicates", [False, True])
@pytest.mark.parametrize("max_share", [None, 0.5])
@pytest.mark.parametrize(("make", "rows", "columns"), [(unit_vectors, 11, 17), (corners, 1, 1)])
@pytest.mark.usefixtures("small")
def test_if_the_first_look_sees_everything_the_negatives_are_those_of_a_plain_search(
    monkeypatch: pytest.MonkeyPatch,
    either_side: bool,
    exclude_duplicates: bool,
    max_share: float | None,
    make: Callable[[int], Tensor],
    rows: int,
    columns: int,
) -> None:
    monkeypatch.setattr(two_looks, "_ROWS", rows)
    monkeypatch.setattr(two_looks, "_COLUMNS", columns)
    n = 60
    vectors, ids = make(2 * n), [i % 93 for i in range(2 * n)]
    if make is corners:
        # A rotation would round similarities that are exactly equal, some of them across the limit.
        monkeypatch.setattr(two_looks, "_leading", lambda vectors, workers: vectors)
    groups = [{i // 3} if i % 2 else set() for i in range(n)]
    options = {
        "either_side": either_side, "exclude_duplicates": exclude_duplicates, "max_share": max_share
    }  # fmt: skip
    found = mined(vectors, ids, threads=3, **options, precision="leading", groups=ragged(groups))
    assert found.tolist() == plain_search(vectors, ids, **options, groups=groups)


@pytest.mark.parametrize("either_side", [False, True])
def test_nearly_all_negatives_are_the_nearest_ones(
    monkeypatch: pytest.MonkeyPatch, either_side: bool
) -> None:
    monkeypatch.setattr(two_looks, "_FEWEST", 64)
    vectors = near_a_subspace(2300, 512, 80, 0.1)
    options = {"either_side": either_side, "exclude_duplicates": True}
    found = [
        mined(vectors, threads=threads, precision=precision, **options)
        for threads, precision in ((2, "float32"), (1, "leading"), (3, "leading"))
    ]
    np.testing.assert_array_equal(found[1], found[2])
    exact, fast = ((vectors * vectors[negatives]).sum(1) for negatives in found[:2])
    assert 0.85 < (found[0] == found[1]).mean() < 1
    assert (exact - fast).mean() < 0.002
    assert (fast <= exact + 1e-6).all()


def test_a_random_subspace_would_miss_most_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = near_a_subspace(2300, 512, 80, 0.1)
    monkeypatch.setattr(two_looks, "_ITERATIONS", 0)
    monkeypatch.setattr(two_looks, "_SAMPLE", len(vectors))
    exact = mined(vectors, threads=2, exclude_duplicates=True)
    monkeypatch.setattr(two_looks, "_leading", lambda vectors, _: vectors[:, :64])
    found = mined(vectors, threads=2, exclude_duplicates=True, precision="leading")
    assert (found == exact).mean() < 0.7


@pytest.mark.usefixtures("small")
def test_all_candidates_may_be_barred() -> None:
    options = {"either_side": True, "exclude_duplicates": True, "precision": "leading"}
    found = mined(unit_vectors(6), [1, 1, 1, 2, 3, 4], **options)
    assert found.tolist() == [NO_NEGATIVE] * 6


def test_few_vectors_few_dimensions_and_limits_are_compared_exactly() -> None:
    for n, dim, share in ((2000, 300, None), (3000, 200, None), (2100, 300, 0.9)):
        vectors = unit_vectors(2 * n, dim)
        exact, found = (
            mined(vectors, threads=2, max_share=share, precision=each) for each in ("float32", "leading")
        )
        np.testing.assert_array_equal(found, exact)
