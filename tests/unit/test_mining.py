"""Test how hard negatives are found, against a plain search."""

import math
from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np
import pytest
import torch
from test_dataset import flat
from torch import Tensor

from paraphrastic.base.arrays import Int64
from paraphrastic_pipeline.training import mining
from paraphrastic_pipeline.training.mining_kernels import NO_NEGATIVE
from paraphrastic_pipeline.training.same_meaning import SameMeaning
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.threads import Workers


def unit_vectors(n: int, dim: int = 8, seed: int = 0) -> Tensor:
    return torch.nn.functional.normalize(torch.randn(n, dim, generator=torch.Generator().manual_seed(seed)))


def corners(n: int, dim: int = 6) -> Tensor:
    """Return corners of a cube: their similarities have no rounding error, and many of them are equal."""
    signs = torch.randint(2, (n, dim), generator=torch.Generator().manual_seed(0))
    # A length of 1 would take the root of `dim`, and no precision has all its digits.
    return 2.0 * signs - 1


def near_a_subspace(n: int, dim: int, rank: int, rest: float) -> Tensor:
    """Pairs of vectors whose directions are mostly in a subspace."""
    frame = unit_vectors(rank, dim, seed=1)
    sources = torch.randn(n, rank, generator=torch.Generator().manual_seed(2)) @ frame
    targets = sources + 0.5 * torch.randn(n, rank, generator=torch.Generator().manual_seed(3)) @ frame
    vectors = torch.cat([sources, targets])
    return torch.nn.functional.normalize(vectors + rest * unit_vectors(2 * n, dim, seed=4))


def sentences(ids: list[int], groups: list[set[int]] | None = None) -> Sentences:
    """One token for each sentence, and the groups of each pair."""
    one = flat(*([each] for each in ids))
    both = None if groups is None else flat(*map(sorted, groups), *map(sorted, groups))
    return Sentences(one.tokens, one.offsets, groups=both)


def mined(
    vectors: Tensor,
    ids: list[int] | None = None,
    groups: list[set[int]] | None = None,
    *,
    exclude_duplicates: bool = True,
    threads: int = 1,
    **options: Any,
) -> Int64:
    ids = ids or [*range(len(vectors))]
    same = SameMeaning.of(sentences(ids, groups), exclude_duplicates=exclude_duplicates)
    with closing(Workers(threads)) as workers:
        return mining.mine(vectors, same, workers, **options)


def plain_search(
    vectors: Tensor,
    ids: list[int],
    groups: list[set[int]] | None = None,
    *,
    exclude_duplicates: bool = True,
    either_side: bool = False,
    max_share: float | None = None,
) -> list[int]:
    """Search one candidate after the other, those of the other side first; the first of equals wins."""
    n, similarities = len(vectors) // 2, (vectors @ vectors.T).tolist()
    chosen = []
    for i in range(2 * n):
        best, best_similarity = NO_NEGATIVE, -math.inf
        own = {ids[i % n], ids[i % n + n]}
        limit = math.inf if max_share is None else max_share * similarities[i % n][i % n + n]
        for j in [*range(n, 2 * n), *range(n)] if i < n else range(2 * n):
            if i % n == j % n or (not either_side and (i < n) == (j < n)):
                continue
            if similarities[i][j] > limit:
                continue
            if exclude_duplicates and own & {ids[j % n], ids[j % n + n]}:
                continue
            if exclude_duplicates and groups and groups[i % n] & groups[j % n]:
                continue
            if similarities[i][j] > best_similarity:
                best, best_similarity = j, similarities[i][j]
        chosen.append(best)
    return chosen


@pytest.fixture
def leading_sees_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = {"_SHARE": 1.0, "_CANDIDATES": 1000}
    nothing = dict.fromkeys(("_FEWEST", "_LEAST_DIMENSIONS", "_LEAST_PAIRS"), 0)
    for name, value in (everything | nothing).items():
        monkeypatch.setattr(mining, name, value)


@pytest.mark.parametrize("either_side", [False, True])
@pytest.mark.parametrize("exclude_duplicates", [False, True])
@pytest.mark.parametrize("max_share", [None, 0.5, 0.95])
@pytest.mark.parametrize("make", [unit_vectors, corners])
@pytest.mark.usefixtures("leading_sees_everything")
def test_negatives_are_those_of_a_plain_search(
    monkeypatch: pytest.MonkeyPatch,
    either_side: bool,
    exclude_duplicates: bool,
    max_share: float | None,
    make: Callable[[int], Tensor],
) -> None:
    n = 70
    vectors, ids = make(2 * n), [i % 113 for i in range(2 * n)]
    # Most pairs are in one group, some in two, and others in none that another pair is in.
    groups = [{5} if i % 7 == 0 else {100 + i // 2} if i % 2 else set() for i in range(n)]
    groups[3], groups[12], groups[20] = {5, 110}, {300, 301}, {302}
    own: dict[str, Any] = {"either_side": either_side, "max_share": max_share}
    given = ids, groups
    options = {**own, "exclude_duplicates": exclude_duplicates}
    expected = plain_search(vectors, *given, **options)
    if make is corners:
        # A rotation would round similarities that are exactly equal.
        monkeypatch.setattr(mining, "_leading", lambda vectors, _: vectors)
    for rows, columns in ((3, 17), (11, 40), (1, 1), (1000, 1000)):
        for name in ("_ROWS", "_DEVICE_ROWS"):
            monkeypatch.setattr(mining, name, rows)
        for name in ("_COLUMNS", "_LEADING_COLUMNS"):
            monkeypatch.setattr(mining, name, columns)
        for threads in (1, 3):
            assert mined(vectors, *given, threads=threads, **options).tolist() == expected
        # Of a block, the first of equals is found, so only small blocks choose exactly among equals.
        if make is unit_vectors or columns == rows == 1:
            assert mined(vectors, *given, threads=2, leading=True, **options).tolist() == expected
        same = SameMeaning.of(sentences(*given), exclude_duplicates=exclude_duplicates)
        limits = torch.full((n,), torch.inf)
        if max_share is not None:
            limits = (vectors[:n] * vectors[n:]).sum(1) * max_share
        on_device = mining._mine_on_device(vectors, same, limits, either_side=either_side)
        # Without a limit, more sentences are equally similar than there are candidates.
        assert on_device.tolist() == expected or (make is corners and max_share is None)
    assert (expected != plain_search(vectors, ids, **options)) == exclude_duplicates


@pytest.mark.parametrize("leading", [False, True])
@pytest.mark.usefixtures("leading_sees_everything")
def test_there_may_be_no_negative(leading: bool) -> None:
    one_pair = mined(unit_vectors(2), either_side=True, leading=leading)
    assert one_pair.tolist() == [NO_NEGATIVE] * 2
    copies = mined(unit_vectors(6), [1, 1, 1, 2, 2, 2], leading=leading)
    assert copies.tolist() == [NO_NEGATIVE] * 6


def test_a_similarity_that_is_not_a_number_is_nobodys_negative() -> None:
    vectors = unit_vectors(20)
    vectors[13] = torch.nan
    assert mined(vectors)[13] == NO_NEGATIVE


@pytest.mark.parametrize("either_side", [False, True])
def test_by_leading_dimensions_nearly_all_negatives_are_the_nearest_ones(
    monkeypatch: pytest.MonkeyPatch, either_side: bool
) -> None:
    monkeypatch.setattr(mining, "_FEWEST", 64)
    vectors = near_a_subspace(2300, 512, 80, 0.1)
    exact = mined(vectors, threads=2, either_side=either_side)
    found = [mined(vectors, threads=threads, leading=True, either_side=either_side) for threads in (1, 3)]
    np.testing.assert_array_equal(*found)
    best, chosen = ((vectors * vectors[negatives]).sum(1) for negatives in (exact, found[0]))
    assert 0.85 < (found[0] == exact).mean() < 1
    assert (best - chosen).mean() < 0.002
    assert (chosen <= best + 1e-6).all()
    # Any other subspace would miss most of them.
    monkeypatch.setattr(mining, "_leading", lambda vectors, _: vectors[:, :64])
    assert (mined(vectors, threads=2, leading=True, either_side=either_side) == exact).mean() < 0.7


@pytest.mark.parametrize(("n", "dim", "share"), [(2000, 300, None), (3000, 200, None), (2100, 300, 0.9)])
def test_few_vectors_few_dimensions_and_limits_are_compared_exactly(
    n: int, dim: int, share: float | None
) -> None:
    vectors = unit_vectors(2 * n, dim)
    found = [mined(vectors, threads=2, max_share=share, leading=leading) for leading in (False, True)]
    np.testing.assert_array_equal(*found)


def test_which_pairs_mean_the_same_as_a_matrix() -> None:
    groups: list[set[int]] = [{1}, {2}, {1, 2}, {3}, set(), set()]
    # Pairs 4 and 5 share a sentence on different sides.
    ids = [10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 15, 25]
    same = SameMeaning.of(sentences(ids, groups))
    expected = np.eye(6, dtype=np.bool_)
    for one, other in ((0, 2), (1, 2), (4, 5)):
        expected[one, other] = expected[other, one] = True
    np.testing.assert_array_equal(same.matrix(), expected)
