"""A second, plain implementation of the training algorithm, with which the engines are compared.

It follows section 3 of Wieting et al. 2021 and the behaviour of the original code. It uses padded loops
instead of flat arrays, looks for one negative at a time, and runs `torch.optim.Adam` on the full table.
"""

import torch
from torch import Tensor


def train(
    batches_by_epoch: list[list[tuple[list[list[int]], list[list[int]]]]],
    table: Tensor,
    *,
    margin: float,
    learning_rate: float,
    megabatch: int,
    anneal: int,
    either_side: bool = False,
) -> list[float]:
    """Train `table` in place on mini-batches of (sources, targets); return the loss of every mini-batch."""
    table = table.requires_grad_()
    optimizer = torch.optim.Adam([table], lr=learning_rate)
    losses, read = [], 0
    for batches in batches_by_epoch:
        position = 0
        while position < len(batches):
            size = min(megabatch, 1 + read // anneal)
            chosen = batches[position : position + size]
            position += size
            read += size
            sources = [sentence for source, _ in chosen for sentence in source]
            targets = [sentence for _, target in chosen for sentence in target]
            n, sentences = len(sources), sources + targets
            with torch.no_grad():
                vectors = torch.nn.functional.normalize(torch.stack([embed(table, s) for s in sentences]))
                similarities = (vectors @ vectors.T).tolist()
            negatives = []
            for own in range(2 * n):
                others = range(2 * n) if either_side else range(n, 2 * n) if own < n else range(n)
                allowed = [other for other in others if other % n != own % n]
                negatives.append(max(allowed, key=lambda other: similarities[own][other]))
            start = 0
            for source, _ in chosen:
                terms = []
                for own in range(start, start + len(source)):
                    s, t = embed(table, sources[own]), embed(table, targets[own])
                    of_s = embed(table, sentences[negatives[own]])
                    of_t = embed(table, sentences[negatives[n + own]])
                    terms.append(
                        torch.relu(margin - cosine(s, t) + cosine(s, of_s))
                        + torch.relu(margin - cosine(s, t) + cosine(t, of_t))
                    )
                start += len(source)
                loss = torch.stack(terms).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
    return losses


def embed(table: Tensor, sentence: list[int]) -> Tensor:
    return torch.stack([table[token] for token in sentence]).mean(dim=0)


def cosine(a: Tensor, b: Tensor) -> Tensor:
    return (a @ b) / (a.norm() * b.norm())
