"""Test mini-batches without repetitions, and the loss that takes negatives from them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from small_corpus import sentence_pairs, write_training_data
from test_dataset import flat, listed
from training_runs import SETTINGS, history, train_model

from paraphrastic.base.arrays import Int64
from paraphrastic_pipeline.training.batches import same_meaning, without_repetitions
from paraphrastic_pipeline.training.groups import shared_groups
from paraphrastic_pipeline.training.loss import multiple_negatives_loss
from paraphrastic_pipeline.training.sentences import Sentences


def pairs_of(source: list[int], target: list[int], groups: list[list[int]] | None = None) -> Sentences:
    """Sentences of one token each."""
    tokens = np.array([*source, *target], np.int32)
    return Sentences(tokens, np.arange(len(tokens) + 1), groups=groups and flat(*groups, *groups))


def repeated(sentences: Sentences, batches: list[Int64]) -> int:
    n, count = len(sentences) // 2, 0
    for batch in batches:
        seen: set[int] = set()
        for pair in batch.tolist():
            own = {int(sentences.tokens[pair]), int(sentences.tokens[n + pair])}
            count += bool(seen & own)
            seen |= own
    return count


def test_no_sentence_is_twice_in_a_mini_batch() -> None:
    generator = np.random.default_rng(3)
    source, target = generator.integers(0, 400, (2, 200)).tolist()
    sentences = pairs_of(source, target)
    batches = without_repetitions(sentences, 20)
    assert sorted(np.concatenate(batches)) == list(range(200))
    assert [len(batch) for batch in batches] == [20] * 10
    plain = np.split(np.arange(200), 10)
    assert repeated(sentences, plain) > 10
    assert repeated(sentences, batches) == 0


def plainly(keys: list[set[int]], size: int) -> list[list[int]]:
    """Distribute pairs as `without_repetitions` says, and look at all pairs of a mini-batch each time."""

    def fits(pair: int, batch: list[int]) -> bool:
        return not any(keys[pair] & keys[other] for other in batch)

    batches: list[list[int]] = [[] for _ in range(-(-len(keys) // size))]
    waiting = []
    for pair in range(len(keys)):
        free = [batch for batch in batches if len(batch) < size and fits(pair, batch)]
        (free[0] if free else waiting).append(pair)
    for pair in waiting:
        place = min(batches, key=len)
        exchanges = [
            (batch, other)
            for batch in batches
            if batch is not place and not fits(pair, place) and fits(pair, batch)
            for other in batch
            if fits(other, place)
        ]
        if exchanges:
            batch, other = exchanges[0]
            batch.remove(other)
            batch.append(pair)
            pair = other
        place.append(pair)
    return [sorted(batch) for batch in batches if batch]


@pytest.mark.parametrize("size", [1, 2, 5, 7])
def test_crowded_pairs_go_to_the_first_mini_batch_with_room_or_change_places(size: int) -> None:
    generator = np.random.default_rng(size)
    for number in range(60):
        source, target = generator.integers(0, generator.integers(5, 90), (2, 40)).tolist()
        sentences = pairs_of(source, target)
        batches = [batch.tolist() for batch in without_repetitions(sentences, size)]
        keys = [set(pair) for pair in zip(source, target, strict=True)]
        assert batches == plainly(keys, size), number
        assert max(map(len, batches)) <= size


def test_pairs_without_repetitions_stay_in_their_order() -> None:
    sentences = pairs_of(list(range(10)), list(range(10, 20)))
    assert [batch.tolist() for batch in without_repetitions(sentences, 4)] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9],
    ]


def test_a_sentence_that_is_everywhere_is_repeated_and_barred() -> None:
    sentences = pairs_of([7] * 6, list(range(10, 16)))
    batches = without_repetitions(sentences, 3)
    assert sorted(map(len, batches)) == [3, 3]
    # All of these sentences mean the same as the one that they share, and the last pair shares none.
    assert same_meaning(pairs_of([7, 7, 1, 5], [2, 3, 7, 6])).tolist() == [
        [False, True, True, False],
        [True, False, True, False],
        [True, True, False, False],
        [False, False, False, False],
    ]


def test_groups_are_kept_apart_and_barred() -> None:
    sentences = pairs_of([1, 2, 3, 4], [5, 6, 7, 8], groups=[[0], [0, 9], [1, 9], [1]])
    assert [batch.tolist() for batch in without_repetitions(sentences, 2)] == [[0, 2], [1, 3]]
    assert same_meaning(sentences).tolist() == [
        [False, True, False, False],
        [True, False, True, False],
        [False, True, False, True],
        [False, False, True, False],
    ]


def test_only_groups_of_several_pairs_matter() -> None:
    groups = pairs_of([1, 2, 3, 4], [5, 6, 7, 8], groups=[[3], [8, 3, 5], [], [8]]).pair_groups
    of_pairs, members = shared_groups(groups)
    assert listed(of_pairs) == [[0], [1, 0], [], [1]]
    assert listed(members) == [[0, 1], [1, 3]]


def test_the_loss_is_equation_2() -> None:
    generator = torch.Generator().manual_seed(0)
    source, target = torch.randn(2, 4, 6, generator=generator).double()
    barred = torch.zeros(4, 4, dtype=torch.bool)
    barred[0, 2] = True
    expected = 0.0
    for i in range(4):
        cosines = [float(torch.cosine_similarity(source[i], target[j], dim=0)) for j in range(4)]
        total = sum(np.exp(20 * cosine) for j, cosine in enumerate(cosines) if not barred[i, j])
        expected -= 20 * cosines[i] - np.log(total)
    found = multiple_negatives_loss([source, target], barred, scale=20.0)
    assert found.item() == pytest.approx(expected / 4)


def test_averages_learn_with_it(tmp_path: Path) -> None:
    data = write_training_data(tmp_path, sentence_pairs(300))
    settings = replace(SETTINGS, loss="multiple_negatives", engine="auto", warmup=0.2, max_gradient_norm=5.0)
    lines = history(train_model(data, tmp_path / "model", settings))
    assert lines[-1]["loss"] < 0.5 * lines[0]["loss"]
    chunked = history(train_model(data, tmp_path / "chunked", replace(settings, chunk_size=10)))
    assert chunked[-1]["loss"] == pytest.approx(lines[-1]["loss"], rel=1e-3)
