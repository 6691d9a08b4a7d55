"""Test how hard negatives are found, against a plain search."""

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from test_dataset import flat
from torch import Tensor

from paraphrastic.base.arrays import Int64
from paraphrastic_pipeline.settings.sections.training import MiningPrecision
from paraphrastic_pipeline.training import negative_mining, negative_search
from paraphrastic_pipeline.training.negative_mining import (
    _in_eight_bits,
    hardest_negatives,
    hardest_on_device,
    has_instructions,
    precision_on,
)
from paraphrastic_pipeline.training.negative_search import NO_NEGATIVE
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.threads import Workers


def unit_vectors(n: int, dim: int = 8, seed: int = 0) -> Tensor:
    return torch.nn.functional.normalize(torch.randn(n, dim, generator=torch.Generator().manual_seed(seed)))


def corners(n: int, dim: int = 6) -> Tensor:
    """Return corners of a cube: their similarities have no rounding error, and many of them are equal."""
    signs = torch.randint(2, (n, dim), generator=torch.Generator().manual_seed(0))
    # A length of 1 would take the root of `dim`, and no precision has all its digits.
    return 2.0 * signs - 1


def mined(vectors: Tensor, ids: Sequence[int] | None = None, *, threads: int = 1, **changes: Any) -> Int64:
    """The negatives by exact similarities on the other side, unless changed; without `ids`, all differ."""
    options = {"either_side": False, "exclude_duplicates": False, "precision": "float32", **changes}
    with closing(Workers(threads)) as workers:
        return hardest_negatives(vectors, np.array(ids or range(len(vectors))), workers, **options)


def ragged(groups: list[set[int]]) -> Sentences:
    """The groups of each pair, as training reads them."""
    return flat(*map(sorted, groups))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(negative_search, "SIMILARITY_ROWS", 7)
    monkeypatch.setattr(negative_search, "BLOCK_COLUMNS", 17)
    monkeypatch.setattr(negative_mining, "DEVICE_ROWS", 11)


def plain_search(
    vectors: Tensor,
    ids: list[int],
    *,
    either_side: bool,
    exclude_duplicates: bool,
    max_share: float | None = None,
    groups: list[set[int]] | None = None,
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


@pytest.mark.parametrize("either_side", [False, True])
@pytest.mark.parametrize("exclude_duplicates", [False, True])
@pytest.mark.parametrize("max_share", [None, 0.5])
@pytest.mark.parametrize("make", [unit_vectors, corners])
def test_negatives_are_those_of_a_plain_search(
    monkeypatch: pytest.MonkeyPatch,
    either_side: bool,
    exclude_duplicates: bool,
    max_share: float | None,
    make: Callable[[int], Tensor],
) -> None:
    monkeypatch.setattr(negative_search, "BLOCK_COLUMNS", 17)
    n = 90
    vectors, ids = make(2 * n), [i % 123 for i in range(2 * n)]
    options = {
        "either_side": either_side, "exclude_duplicates": exclude_duplicates, "max_share": max_share
    }  # fmt: skip
    expected = plain_search(vectors, ids, **options)
    precisions: tuple[MiningPrecision, ...] = ("float32", "bfloat16", "int8")
    for rows, precision in product((3, 11, 1000), precisions if make is corners else precisions[:1]):
        monkeypatch.setattr(negative_search, "SIMILARITY_ROWS", rows)
        monkeypatch.setattr(negative_mining, "DEVICE_ROWS", rows)
        for threads in (1, 3):
            found = mined(vectors, ids, threads=threads, **options, precision=precision)
            assert found.tolist() == expected
        found = hardest_on_device(vectors, torch.tensor(ids), **options, precision=precision)
        assert found.tolist() == expected


@pytest.mark.parametrize("either_side", [False, True])
@pytest.mark.parametrize("exclude_duplicates", [False, True])
@pytest.mark.usefixtures("small_blocks")
def test_no_sentence_of_a_group_is_a_negative_within_it(either_side: bool, exclude_duplicates: bool) -> None:
    n = 40
    vectors, ids = unit_vectors(2 * n), [*range(2 * n - 2), 0, 1]
    # Most pairs are in one group, some in two, and two pairs are in none that another one is in.
    groups = [{5} if i % 7 == 0 else {100 + i // 2} for i in range(n)]
    groups[3] = {5, 110}
    groups[12], groups[20] = {300, 301}, {302}
    options = {"either_side": either_side, "exclude_duplicates": exclude_duplicates}
    given = {"precision": "float32", "groups": ragged(groups), **options}
    found = mined(vectors, ids, threads=2, **given)
    on_device = hardest_on_device(vectors, torch.tensor(ids), **given)
    expected = plain_search(vectors, ids, groups=groups, **options)
    assert found.tolist() == on_device.tolist() == expected
    assert (expected != plain_search(vectors, ids, **options)) == exclude_duplicates


@pytest.mark.parametrize("either_side", [False, True])
@pytest.mark.parametrize("share", [0.5, 0.95])
@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
@pytest.mark.usefixtures("small_blocks")
def test_negatives_above_a_share_of_the_pairs_own_similarity_are_barred(
    either_side: bool, share: float, precision: MiningPrecision
) -> None:
    n = 40
    sources = unit_vectors(n)
    targets = torch.nn.functional.normalize(sources + 0.5 * unit_vectors(n, seed=1))
    vectors = torch.cat([sources, targets])
    options = {"either_side": either_side, "exclude_duplicates": False, "max_share": share}
    found = [mined(vectors, threads=2, precision=precision, **options).tolist()]
    if precision != "int8":
        found += [hardest_on_device(vectors, torch.arange(2 * n), precision=precision, **options).tolist()]
    similarity = (vectors @ vectors.T).numpy()
    own = np.tile(np.diag(similarity[:n, n:]), 2)
    slack = {"float32": 1e-6, "bfloat16": 0.02, "int8": 0.05}[precision]
    for negatives in found:
        for i, negative in enumerate(negatives):
            others = [j for j in range(2 * n) if j % n != i % n and (either_side or (i < n) != (j < n))]
            allowed = [j for j in others if similarity[i, j] <= share * own[i]]
            if negative == NO_NEGATIVE:
                assert all(similarity[i, j] > share * own[i] - slack for j in allowed)
                continue
            assert negative in others
            assert similarity[i, negative] <= share * own[i] + slack
            assert similarity[i, negative] >= max(similarity[i, j] for j in allowed) - slack


def test_a_copy_of_the_pair_is_a_negative_only_where_that_is_asked_for() -> None:
    vectors = torch.nn.functional.normalize(torch.eye(4)[[0, 0, 1, 0, 0, 1]] + 0.01 * unit_vectors(6, 4))
    ids = [1, 1, 2, 3, 3, 4]
    assert mined(vectors, ids, exclude_duplicates=True)[0] == 5
    assert mined(vectors, ids)[0] == 4


def test_there_may_be_no_negative() -> None:
    one_pair = mined(unit_vectors(2), either_side=True, exclude_duplicates=True)
    assert one_pair.tolist() == [NO_NEGATIVE] * 2
    copies = mined(unit_vectors(6), [1, 1, 1, 2, 2, 2], exclude_duplicates=True)
    assert copies.tolist() == [NO_NEGATIVE] * 6


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_few_digits_choose_nearly_always_the_same_and_never_much_worse(precision: str) -> None:
    n = 1500
    source = unit_vectors(n, 64)
    # Translations lie near their sources and sentences form groups, as the vectors of a trained model do.
    source += 0.7 * unit_vectors(100, 64, seed=1)[torch.arange(n) % 100]
    target = source + 0.3 * unit_vectors(n, 64, seed=2)
    vectors = torch.nn.functional.normalize(torch.cat([source, target]))
    exact, rounded = (
        mined(vectors, threads=2, exclude_duplicates=True, precision=each) for each in ("float32", precision)
    )
    assert (exact == rounded).mean() > 0.85
    best, chosen = ((vectors * vectors[torch.from_numpy(found)]).sum(1) for found in (exact, rounded))
    # Between ½ and 1, the numbers of type bfloat16 are 1/256 apart.
    assert (best - chosen).max() < 1 / 128


@pytest.mark.parametrize("dominant", [0.0, 3.0])
@pytest.mark.parametrize("threads", [1, 3])
def test_eight_bits_are_of_the_size_that_the_entries_have(dominant: float, threads: int) -> None:
    vectors = unit_vectors(500, 300)
    # In word vectors, a few dimensions are far larger than the others, and they distinguish sentences.
    vectors[:, 7] *= 1 + 5 * dominant
    vectors = torch.nn.functional.normalize(vectors)
    found = _in_eight_bits(vectors, Workers(threads)).float()
    cosines = torch.nn.functional.cosine_similarity(found, vectors)
    assert cosines.min() > 0.998
    unit = (found * vectors).sum() / (vectors * vectors).sum()
    assert (found - unit * vectors).abs().median() < 0.6


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("either_side", [False, True])
def test_the_number_of_threads_does_not_change_the_choice_among_equals(
    precision: str, either_side: bool
) -> None:
    # A block has 25 rows, so that equals are in one block and in several.
    vectors = unit_vectors(10, 16)[torch.arange(2 * 200) % 10]
    options = {"either_side": either_side, "precision": precision}
    found = [mined(vectors, threads=threads, **options).tolist() for threads in (1, 2, 7)]
    assert found[0] == found[1] == found[2]
    # The first equal sentence on the other side is chosen, except for the sentence's own translation.
    assert found[0][:200] == [*range(210, 220), *[*range(200, 210)] * 19]
    assert found[0][200:] == [*range(10, 20), *[*range(10)] * 19]


def test_a_similarity_that_is_not_a_number_is_nobodys_negative() -> None:
    vectors = unit_vectors(20)
    vectors[13] = torch.nan
    assert mined(vectors)[13] == NO_NEGATIVE


@pytest.mark.parametrize(
    ("eight_bits", "features", "expected"),
    [
        (True, {"avx512bf16": True}, "int8"),
        (False, {"avx512bf16": True}, "bfloat16"),
        (False, {"avx512bf16": False}, "leading"),
        (False, {}, "leading"),
    ],
)
def test_auto_is_the_fastest_precision_of_the_device(
    monkeypatch: pytest.MonkeyPatch, eight_bits: bool, features: dict[str, bool], expected: str
) -> None:
    monkeypatch.setattr(negative_mining, "has_8_bit_products", lambda: eight_bits)
    monkeypatch.setattr(negative_mining.llvmlite.binding, "get_host_cpu_features", lambda: features)
    assert precision_on("cpu", "auto") == expected
    given: tuple[MiningPrecision, ...] = ("float32", "bfloat16", "int8")
    assert [precision_on("cpu", precision) for precision in given] == list(given)
    fast = [True, bool(features.get("avx512bf16")), eight_bits]
    assert [has_instructions(precision) for precision in given] == fast
    assert [precision_on("cuda", precision) for precision in given] == ["float32", "bfloat16", "bfloat16"]
    assert precision_on("cuda", "auto") == "bfloat16"
