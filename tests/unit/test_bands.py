"""Test the keys by which near vectors are joined, and what is decided from near pairs."""

import numpy as np
import pytest

from paraphrastic import band_keys, near_duplicates, near_pairs, settle_duplicates
from paraphrastic.base.errors import InputError


def pairs_with(cosine: float, count: int, dim: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    first, other = random.standard_normal((2, count, dim))
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    other -= (other * first).sum(axis=1, keepdims=True) * first
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    return first, cosine * first + np.sqrt(1 - cosine**2) * other


@pytest.mark.parametrize(("threshold", "recall"), [(0.9, 0.99), (0.8, 0.9), (0.95, 0.5)])
@pytest.mark.parametrize("rows", [100, 3_000_000])
def test_near_vectors_share_a_key_as_often_as_promised(threshold: float, recall: float, rows: int) -> None:
    first, second = pairs_with(threshold, 4000, 40)
    keys = [band_keys(vectors, threshold, rows=rows, recall=recall) for vectors in (first, 7 * second)]
    shared = (keys[0] == keys[1]).any(axis=1).mean()
    # With 4,000 pairs, the share is off by less than 0.025 but for one time in a thousand.
    assert recall - 0.025 < shared < recall + 0.5 * (1 - recall) + 0.025


def test_others_share_few_keys_and_more_rows_make_them_fewer() -> None:
    random = np.random.default_rng(0)
    vectors = random.standard_normal((2000, 40)).astype(np.float32)
    shares = []
    for rows in (100, 1_000_000, 100_000_000):
        keys = band_keys(vectors, 0.9, rows=rows)
        shares.append((keys[:1000] == keys[1000:]).mean())
    assert shares[0] < 0.02
    assert shares[0] > 10 * shares[1]
    assert shares[2] < 1e-4


def test_keys_depend_on_the_vector_alone() -> None:
    vectors = np.random.default_rng(0).standard_normal((5000, 10)).astype(np.float32)
    keys = band_keys(vectors, 0.9, rows=1000)
    assert (keys >= 0).all()
    np.testing.assert_array_equal(band_keys(vectors[4090:4110], 0.9, rows=1000), keys[4090:4110])
    np.testing.assert_array_equal(band_keys(list(vectors[:3]), 0.9, rows=1000), keys[:3])
    assert (band_keys(np.zeros((2, 10)), 0.9, rows=1000) == -1).all()
    for length in (1e-35, 1e37):
        np.testing.assert_array_equal(band_keys(vectors[:3] * np.float32(length), 0.9, rows=1000), keys[:3])
    assert band_keys(np.empty((0, 10)), 0.9, rows=1000).shape == (0, keys.shape[1])


def test_what_is_out_of_bounds() -> None:
    vectors = np.ones((2, 3))
    for arguments, cause in [
        ({"threshold": 1.0, "rows": 10}, "a threshold of 1 is not between 0 and 1"),
        ({"threshold": 0.9, "rows": 0}, "rows is 0, but must be at least 1"),
        ({"threshold": 0.9, "rows": 10, "recall": 1.0}, "a recall of 1 is not between 0 and 1"),
        ({"threshold": 0.3, "rows": 10**11}, "a threshold of 0.3 needs more than 2,000 bands"),
    ]:
        with pytest.raises(InputError, match=cause):
            band_keys(vectors, **arguments)
    with pytest.raises(InputError, match="vectors: row 2 has numbers that are not finite"):
        band_keys(np.array([[1.0], [np.nan]]), 0.9, rows=10)
    with pytest.raises(InputError, match="vectors: row 2 has numbers that are not finite"):
        near_pairs(np.array([[1.0], [np.inf]]), 0.9)
    with pytest.raises(InputError, match="a threshold of 0 is not above 0"):
        near_pairs(vectors, 0)


@pytest.mark.parametrize("n", [0, 1, 1500])
def test_all_near_pairs_are_found(n: int) -> None:
    random = np.random.default_rng(0)
    vectors = random.standard_normal((n, 6)).astype(np.float32) * random.uniform(0.01, 100, (n, 1))
    if n > 5:
        vectors[5] = 0
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    expected = np.nonzero(np.triu(units.astype(np.float64) @ units.T >= 0.95, 1))
    assert (len(expected[0]) > 500) == (n > 1)
    for found, rows in zip(near_pairs(vectors, 0.95), expected, strict=True):
        np.testing.assert_array_equal(found, rows)


def test_only_rows_of_one_group_are_compared() -> None:
    random = np.random.default_rng(0)
    vectors = random.standard_normal((400, 3)).astype(np.float32)
    groups = random.integers(0, [3, 5], (400, 2))
    first, second = near_pairs(vectors, 0.9)
    same = (groups[first] == groups[second]).all(axis=1)
    assert 100 < same.sum() < 0.3 * len(same)
    found = set(zip(*(ends.tolist() for ends in near_pairs(vectors, 0.9, groups=groups)), strict=True))
    assert found == set(zip(first[same].tolist(), second[same].tolist(), strict=True))
    assert len(near_pairs(vectors, 0.9, groups=np.arange(400))[0]) == 0
    two = near_pairs(vectors, 0.9, groups=np.arange(400) // 2)
    assert 5 < len(two[0]) == (first % 2 == 0)[second == first + 1].sum()
    with pytest.raises(InputError, match="there are 2 groups for 400 vectors"):
        near_pairs(vectors, 0.9, groups=[1, 2])


def test_a_cosine_that_is_lower_by_rounding_reaches_the_threshold() -> None:
    first, second = pairs_with(0.9, 300, 40)
    alone = [
        near_duplicates(np.stack(pair), 0.9).originals[1] == 0 for pair in zip(first, second, strict=True)
    ]
    assert 50 < sum(alone) < 250
    found = [len(near_pairs(np.stack(pair), 0.9)[0]) == 1 for pair in zip(first, second, strict=True)]
    assert found == alone
    assert len(near_pairs(np.array([[0.1, 0.3], [0.3, 0.9]]), 1.0)[0]) == 1


@pytest.mark.parametrize("names", ["numbers", "text"])
def test_pairs_are_settled_as_near_duplicates_does(names: str) -> None:
    random = np.random.default_rng(0)
    vectors = random.standard_normal((300, 4)).astype(np.float32)
    cosines = (units := vectors / np.linalg.norm(vectors, axis=1, keepdims=True)) @ units.T
    first, second = np.nonzero(cosines >= 0.9)
    order = random.permutation(len(first))
    expected = near_duplicates(vectors, 0.9).originals
    left_out = np.flatnonzero(expected >= 0)
    assert 50 < len(left_out) < 250
    called = np.arange(300) if names == "numbers" else np.array([f"{row:03}" for row in range(300)], object)
    found = settle_duplicates(called[first[order]], called[second[order]])
    np.testing.assert_array_equal(found[0], called[left_out])
    np.testing.assert_array_equal(found[1], called[expected[left_out]])
    assert [len(ids) for ids in settle_duplicates([], [])] == [0, 0]
