"""A second, plain implementation of the training algorithm, with which the engines are compared.

It follows section 3 of Wieting et al. 2021 and the behaviour of the original code. It uses padded loops
instead of flat arrays, computes one similarity at a time, and runs `torch.optim.Adam` on the full table.
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
            with torch.no_grad():
                source_vectors = [embed(table, sentence) for sentence in sources]
                target_vectors = [embed(table, sentence) for sentence in targets]
            for_source = [negative(v, target_vectors, own=i) for i, v in enumerate(source_vectors)]
            for_target = [negative(v, source_vectors, own=i) for i, v in enumerate(target_vectors)]
            start = 0
            for source, _ in chosen:
                terms = []
                for own in range(start, start + len(source)):
                    s, t = embed(table, sources[own]), embed(table, targets[own])
                    t_negative = embed(table, targets[for_source[own]])
                    s_negative = embed(table, sources[for_target[own]])
                    terms.append(
                        torch.relu(margin - cosine(s, t) + cosine(s, t_negative))
                        + torch.relu(margin - cosine(s, t) + cosine(t, s_negative))
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


def negative(vector: Tensor, candidates: list[Tensor], *, own: int) -> int:
    """Return the index of the most similar candidate other than the sentence's own translation."""
    similarities = [cosine(vector, candidate).item() for candidate in candidates]
    return max((i for i in range(len(candidates)) if i != own), key=lambda i: similarities[i])
