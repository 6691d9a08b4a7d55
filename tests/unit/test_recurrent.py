"""Test LSTMs with and without peepholes against a plain computation, step by step."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from paraphrastic.model.architecture import Part
from paraphrastic.model.recurrent import Lstm, RecurrentPooling, _Lstm

LENGTHS = np.array([3, 0, 1, 9, 3, 2])


def states_of(sentence: Tensor, lstm: Lstm) -> Tensor:
    """States of one sentence, [tokens, width], by the formulas of Gers and Schmidhuber (2000)."""
    state = cell = sentence.new_zeros(lstm.u.shape[1])
    states = []
    for token in sentence:
        i, f, g, o = (lstm.w @ token + lstm.u @ state + lstm.bias).chunk(4)
        if lstm.peepholes is not None:
            i, f = i + lstm.peepholes[0] * cell, f + lstm.peepholes[1] * cell
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        if lstm.peepholes is not None:
            o = o + lstm.peepholes[2] * cell
        state = o.sigmoid() * cell.tanh()
        states.append(state)
    return torch.stack(states)


@pytest.mark.parametrize("peepholes", [False, True])
@pytest.mark.parametrize(
    "named",
    [
        {"kind": "lstm"},
        {"kind": "bilstm"},
        {"kind": "bilstm", "directions": "concatenate"},
        # The largest of a sentence's states may be below zero.
        {"kind": "bilstm", "pooling": "max"},
    ],
)
def test_vectors_and_gradients_are_those_of_steps(named: dict[str, Any], peepholes: bool) -> None:
    part = Part(**named, peepholes=peepholes)
    pooling = RecurrentPooling(7, 6, part, seed=4).double()
    for parameter in pooling.parameters():
        # Larger weights make each term count.
        parameter.data *= 2
    embeddings = torch.randn(int(LENGTHS.sum()), 7, dtype=torch.float64, requires_grad=True)
    expected = []
    for sentence in embeddings.split(LENGTHS.tolist()):
        if not len(sentence):
            expected.append(torch.zeros(6, dtype=torch.float64))
            continue
        both = [states_of(sentence, pooling.directions[0])]
        if part.kind == "bilstm":
            both.append(states_of(sentence.flip(0), pooling.directions[1]))
        both = [states.amax(dim=0) if part.pooling == "max" else states.mean(dim=0) for states in both]
        concatenated = part.directions == "concatenate"
        expected.append(torch.cat(both) if concatenated else torch.stack(both).mean(dim=0))
    vectors = pooling(embeddings, LENGTHS)
    torch.testing.assert_close(vectors, torch.stack(expected))
    weight = torch.randn(6, 6, dtype=torch.float64)
    parameters = [embeddings, *pooling.parameters()]
    assert len(parameters) == 1 + len(pooling.directions) * (4 if peepholes else 3)
    found = torch.autograd.grad((vectors * weight).sum(), parameters)
    by_steps = torch.autograd.grad((torch.stack(expected) * weight).sum(), parameters)
    for one, other in zip(found, by_steps, strict=True):
        torch.testing.assert_close(one, other)


def test_the_mean_of_many_states_has_all_its_digits() -> None:
    states = 1 + torch.rand(5000, 3, generator=torch.Generator().manual_seed(0))
    pooling = RecurrentPooling(2, 3, Part(kind="lstm"))
    mean = pooling._pool(states, torch.zeros(5000, dtype=torch.int64), np.array([5000]))[0]
    assert (mean - states.double().mean(dim=0)).abs().max() < 2e-7


@pytest.mark.parametrize("peepholes", [False, True])
def test_the_gradient_is_that_of_finite_differences(peepholes: bool) -> None:
    torch.manual_seed(1)
    sizes, width = [4, 3, 3, 1], 3
    shapes = [(sum(sizes), 2), (4 * width, 2), (4 * width, width), (4 * width,)]
    inputs, w, u, bias = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)
    diagonal = torch.randn(3, width, dtype=torch.float64, requires_grad=True) if peepholes else None

    def states(inputs: Tensor, *weights: Tensor | None) -> Tensor:
        return _Lstm.apply(inputs, sizes, *weights)

    assert torch.autograd.gradcheck(states, (inputs, w, u, bias, diagonal))


def test_peepholes_of_zero_change_no_digit() -> None:
    plain, zero = (RecurrentPooling(9, 8, Part(kind="lstm", peepholes=has), seed=2) for has in (False, True))
    own = zero.directions[0]
    # The other weights are drawn as without peepholes, and the peepholes from the same distribution.
    assert own.peepholes.shape == (3, 8)
    assert 0.25 < own.peepholes.abs().max() < 8**-0.5
    own.peepholes.data.zero_()
    embeddings = torch.randn(int(LENGTHS.sum()), 9)
    found = []
    for pooling in (plain, zero):
        inputs = embeddings.clone().requires_grad_()
        # Nor does a precision that is for Transformers.
        with torch.autocast("cpu", torch.bfloat16, enabled=pooling is zero):
            vectors = pooling(inputs, LENGTHS)
        vectors.square().sum().backward()
        found.append([vectors, inputs.grad, *(weight.grad for weight in list(pooling.parameters())[:3])])
    assert all(map(torch.equal, *found))


def test_only_with_peepholes_are_they_in_the_state() -> None:
    names = [RecurrentPooling(5, 4, Part(kind="bilstm", peepholes=has)).state_dict() for has in (False, True)]
    assert set(names[1]) - set(names[0]) == {"directions.0.peepholes", "directions.1.peepholes"}
    assert set(names[0]) < set(names[1])
