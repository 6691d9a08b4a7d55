"""LSTMs over sentences of any length, without padding, and the pooling of their states."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from paraphrastic.base.arrays import Int64
from paraphrastic.model.architecture import Part


class _Lstm(torch.autograd.Function):
    """An LSTM over packed sentences. It computes the same as `torch.nn.LSTM`, in half the time on a CPU.

    The rows of a step are adjacent, those of longer sentences first. A step is therefore a slice, and the
    sentences that go on are its first rows. The gradient of each weight is one product over all steps.

    Peepholes, [3, width] or None, are diagonal weights (Gers and Schmidhuber 2000): before the non-linearity,
    the input gate and the forget gate also get the previous cell, and the output gate the new cell.
    """

    @staticmethod
    def forward(
        context: Any,
        inputs: Tensor,
        sizes: list[int],
        w: Tensor,
        u: Tensor,
        bias: Tensor,
        peepholes: Tensor | None,
    ) -> Tensor:
        width = u.shape[1]
        gates = torch.addmm(bias, inputs, w.T)
        states, cells = (inputs.new_empty(len(inputs), width) for _ in range(2))
        start = 0
        for number, size in enumerate(sizes):
            now = slice(start, start + size)
            gate = gates[now]
            if number:
                before = slice(start - sizes[number - 1], start - sizes[number - 1] + size)
                gate.addmm_(states[before], u.T)
            i, f, g, o = gate.split(width, dim=1)
            if number and peepholes is not None:
                i.addcmul_(peepholes[0], cells[before])
                f.addcmul_(peepholes[1], cells[before])
            gate[:, : 2 * width].sigmoid_()
            g.tanh_()
            torch.mul(i, g, out=cells[now])
            if number:
                cells[now].addcmul_(f, cells[before])
            if peepholes is not None:
                o.addcmul_(peepholes[2], cells[now])
            o.sigmoid_()
            torch.tanh(cells[now], out=states[now])
            states[now].mul_(o)
            start += size
        context.sizes = sizes
        context.save_for_backward(inputs, w, u, gates, states, cells, peepholes)
        return states

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        inputs, w, u, gates, states, cells, peepholes = context.saved_tensors
        sizes = context.sizes
        width = u.shape[1]
        # Gradients of the gates before their non-linearities.
        slopes = torch.empty_like(gates)
        previous = torch.zeros_like(states)
        previous_cells = None if peepholes is None else torch.zeros_like(cells)
        carried = carried_cell = inputs.new_empty(0, width)
        stop = len(inputs)
        for number in reversed(range(len(sizes))):
            start = stop - sizes[number]
            now = slice(start, stop)
            i, f, g, o = gates[now].split(width, dim=1)
            di, df, dg, do = slopes[now].split(width, dim=1)
            state = gradient[now].clone()
            state[: len(carried)] += carried
            tanh = cells[now].tanh()
            cell = state * o * (1 - tanh * tanh)
            cell[: len(carried_cell)] += carried_cell
            torch.mul(state * tanh, o * (1 - o), out=do)
            if peepholes is not None:
                cell.addcmul_(peepholes[2], do)
            torch.mul(cell * g, i * (1 - i), out=di)
            torch.mul(cell * i, 1 - g * g, out=dg)
            if number:
                before = slice(start - sizes[number - 1], start - sizes[number - 1] + sizes[number])
                previous[now] = states[before]
                torch.mul(cell * cells[before], f * (1 - f), out=df)
                carried, carried_cell = slopes[now] @ u, cell * f
                if previous_cells is not None:
                    previous_cells[now] = cells[before]
                    carried_cell.addcmul_(peepholes[0], di).addcmul_(peepholes[1], df)
            else:
                df.zero_()
            stop = start
        diagonal = None
        if previous_cells is not None:
            di, df, _, do = slopes.split(width, dim=1)
            diagonal = torch.stack(
                [(di * previous_cells).sum(0), (df * previous_cells).sum(0), (do * cells).sum(0)]
            )
        return slopes @ w, None, slopes.T @ inputs, slopes.T @ previous, slopes.sum(0), diagonal


class Lstm(nn.Module):
    """An LSTM in one direction. Its weights are drawn as in torch, and its gates are in torch's order.

    With `peepholes`, it has weights of this name for the input, forget and output gates, drawn as the others.
    """

    peepholes: nn.Parameter | None

    def __init__(
        self, inputs: int, width: int, generator: torch.Generator, *, peepholes: bool = False
    ) -> None:
        super().__init__()
        shapes = {"w": (4 * width, inputs), "u": (4 * width, width), "bias": (4 * width,)}
        if peepholes:
            shapes["peepholes"] = (3, width)
        else:
            self.register_parameter("peepholes", None)
        for name, shape in shapes.items():
            drawn = (2 * torch.rand(shape, generator=generator) - 1) / width**0.5
            self.register_parameter(name, nn.Parameter(drawn))

    def forward(self, inputs: Tensor, sizes: list[int]) -> Tensor:
        """States of packed sentences, [tokens, width], in the type of the inputs even under autocast."""
        with torch.autocast(inputs.device.type, enabled=False):
            return _Lstm.apply(inputs, sizes, self.w, self.u, self.bias, self.peepholes)


class RecurrentPooling(nn.Module):
    """The mean or the maximum of an LSTM's states over a sentence (ParaNMT-50M, section 4.1).

    The directions of a BiLSTM are pooled separately, and their vectors averaged or concatenated.

    Args:
        inputs: dimension of the tokens' embeddings.
        dimension: dimension of the sentence vectors.
        part: the kind of LSTM, its pooling, its directions and whether it has peepholes.
        seed: seed of the weights.
    """

    def __init__(self, inputs: int, dimension: int, part: Part, *, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        bidirectional = part.kind == "bilstm"
        self.concatenated = bidirectional and part.directions == "concatenate"
        width = dimension // 2 if self.concatenated else dimension
        self.directions = nn.ModuleList(
            Lstm(inputs, width, generator, peepholes=part.peepholes) for _ in range(1 + bidirectional)
        )
        self.pooling = part.pooling

    def forward(self, embeddings: Tensor, lengths: Int64) -> Tensor:
        """Vectors of sentences, float32 [n, dimension]; an empty sentence has a zero vector.

        Args:
            embeddings: [tokens, inputs], those of all tokens, sentence after sentence.
            lengths: [n], number of tokens in each sentence.
        """
        rank, position = _ranks_and_steps(lengths)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        vectors = []
        for number, lstm in enumerate(self.directions):
            # In the backward direction, a token's step counts from the end of its sentence.
            step = position if number == 0 else lengths[sentence] - 1 - position
            order = np.lexsort((rank[sentence], step))
            tokens, sentences = (
                torch.from_numpy(index).to(embeddings.device) for index in (order, sentence[order])
            )
            states = lstm(embeddings[tokens], np.bincount(position).tolist())
            vectors.append(self._pool(states, sentences, lengths))
        if self.concatenated:
            return torch.cat(vectors, dim=1)
        return torch.stack(vectors).mean(dim=0) if len(vectors) > 1 else vectors[0]

    def _pool(self, states: Tensor, sentence: Tensor, lengths: Int64) -> Tensor:
        zeros = states.new_zeros(len(lengths), states.shape[1])
        if self.pooling == "mean":
            counts = torch.from_numpy(np.maximum(lengths, 1).astype(np.float32))
            # Over hundreds of states, a sum in single precision would lose the last digits.
            sums = zeros.double().index_add(0, sentence, states.double()).to(states.dtype)
            return sums / counts.to(states.device)[:, None]
        index = sentence[:, None].expand_as(states)
        return zeros.scatter_reduce(0, index, states, "amax", include_self=False)


def _ranks_and_steps(lengths: Int64) -> tuple[Int64, Int64]:
    """The rank of each sentence, longest first, and the position of each token in its sentence."""
    rank = np.empty(len(lengths), np.int64)
    rank[np.argsort(-lengths, kind="stable")] = np.arange(len(lengths))
    starts = np.cumsum(lengths) - lengths
    return rank, np.arange(lengths.sum()) - np.repeat(starts, lengths)
