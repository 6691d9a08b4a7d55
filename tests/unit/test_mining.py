"""Hard negatives, against a plain search."""

import numpy as np
import pytest
import torch
from torch import Tensor

from paraphrastic.training.compiled import Team
from paraphrastic.training.mining import NO_NEGATIVE, hardest_negatives


def unit_vectors(n: int, dim: int = 8, seed: int = 0) -> Tensor:
    return torch.nn.functional.normalize(torch.randn(n, dim, generator=torch.Generator().manual_seed(seed)))


def plain_search(
    vectors: Tensor, ids: list[int], *, either_side: bool, exclude_duplicates: bool
) -> list[int]:
    n = len(vectors) // 2
    chosen = []
    for i in range(2 * n):
        best, best_similarity = NO_NEGATIVE, -2.0
        own = {ids[i % n], ids[i % n + n]}
        for j in range(2 * n):
            if i % n == j % n or (not either_side and (i < n) == (j < n)):
                continue
            if exclude_duplicates and own & {ids[j % n], ids[j % n + n]}:
                continue
            if (similarity := float(vectors[i] @ vectors[j])) > best_similarity:
                best, best_similarity = j, similarity
        chosen.append(best)
    return chosen


@pytest.mark.parametrize("either_side", [False, True])
@pytest.mark.parametrize("exclude_duplicates", [False, True])
@pytest.mark.parametrize("block_rows", [3, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_negatives_are_those_of_a_plain_search(
    either_side: bool, exclude_duplicates: bool, block_rows: int, threads: int
) -> None:
    n = 40
    vectors = unit_vectors(2 * n)
    ids = [i % 23 for i in range(2 * n)]
    options = {"either_side": either_side, "exclude_duplicates": exclude_duplicates}
    found = hardest_negatives(
        vectors,
        np.array(ids),
        Team(threads),
        **options,
        precision="float32",
        block_rows=block_rows,
        block_columns=17,
    )
    assert found.tolist() == plain_search(vectors, ids, **options)


def test_a_copy_of_the_pair_is_a_negative_only_where_that_is_asked_for() -> None:
    vectors = torch.nn.functional.normalize(torch.eye(4)[[0, 0, 1, 0, 0, 1]] + 0.01 * unit_vectors(6, 4))
    ids = np.array([1, 1, 2, 3, 3, 4])
    barred = hardest_negatives(
        vectors, ids, Team(1), either_side=False, exclude_duplicates=True, precision="float32"
    )
    allowed = hardest_negatives(
        vectors, ids, Team(1), either_side=False, exclude_duplicates=False, precision="float32"
    )
    assert barred[0] == 5
    assert allowed[0] == 4


def test_there_may_be_no_negative() -> None:
    one_pair = hardest_negatives(
        unit_vectors(2),
        np.array([1, 2]),
        Team(1),
        either_side=True,
        exclude_duplicates=True,
        precision="float32",
    )
    assert one_pair.tolist() == [NO_NEGATIVE] * 2
    copies = hardest_negatives(
        unit_vectors(6),
        np.array([1, 1, 1, 2, 2, 2]),
        Team(1),
        either_side=False,
        exclude_duplicates=True,
        precision="float32",
    )
    assert copies.tolist() == [NO_NEGATIVE] * 6
