"""The losses over a mini-batch: for autograd, and the margin loss with a closed-form gradient, too."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, cross_entropy, normalize

from paraphrastic.base.arrays import Bool, Float64
from paraphrastic.base.jit import jit

# As in torch's cosine_similarity.
COSINE_EPSILON = 1e-8


def margin_loss(vectors: Sequence[Tensor], valid: Tensor, *, margin: float) -> Tensor:
    """`[δ − cos(s, t) + cos(s, t′)]₊ + [δ − cos(s, t) + cos(t, s′)]₊`, each averaged over the mini-batch.

    Equation 1 of Wieting et al. 2021, for both directions as in the original code.

    Args:
        vectors: those of the sentences s, their translations or paraphrases t, the negatives t′ of s, and the
            negatives s′ of t, each [n, dim].
        valid: bool [2, n], false if s (first row) or t (second row) has no negative; its term is then zero.
        margin: δ.
    """
    source, target, *_ = vectors
    positive = cosine_similarity(source, target)
    negatives = (cosine_similarity(*pair) for pair in zip(vectors[:2], vectors[2:], strict=True))
    terms = torch.stack([margin - positive + negative for negative in negatives])
    return (terms.clamp_min(0.0) * valid).mean(dim=1).sum()


def multiple_negatives_loss(vectors: Sequence[Tensor], allowed: Tensor, *, scale: float) -> Tensor:
    """`−log(exp(c·cos(s_i, t_i)) / Σ_j exp(c·cos(s_i, t_j)))`, averaged over the mini-batch.

    Equation 2 of Dadas 2022: the targets of the other pairs are the negatives of each source.

    Args:
        vectors: those of the sentences s, and of their translations or paraphrases t, each [n, dim].
        allowed: bool [n, n], whether target j counts for source i; false if it means the same as pair i. The
            diagonal is true.
        scale: c, the inverse of a temperature.
    """
    source, target = vectors
    scores = scale * normalize(source) @ normalize(target).T
    places = torch.arange(len(scores), device=scores.device)
    return cross_entropy(scores.masked_fill(~allowed, -torch.inf), places)


@jit
def cosine(product: float, square: float, other_square: float) -> tuple[float, float, float]:
    """The cosine of a and b as in torch, and its gradient with respect to a: the factors of b and of a.

    Lengths count as at least `COSINE_EPSILON`, but their derivative ignores this bound.
    """
    length, other = np.sqrt(square), np.sqrt(other_square)
    bounded, other_bounded = max(length, COSINE_EPSILON), max(other, COSINE_EPSILON)
    value = product / (bounded * other_bounded)
    slope = -value / (bounded * length) if length > 0.0 else 0.0
    return value, 1.0 / (bounded * other_bounded), slope


@jit
def loss_and_factors(products: Float64, valid: Bool, margin: float, factors: Float64) -> float:
    """The margin loss, and its gradient as factors of the sentences' vectors.

    Args:
        products: [blocks, n, 7], each block's share of s·t, s·t′, t·s′ and the squares of s, t, t′, s′.
        valid: bool [2, n], whether s and t have a negative.
        margin: δ.
        factors: output, [n, 10]: those of (s, t, t′) for s, (s, t, s′) for t, (s, t′) for t′, (t, s′) for s′.
    """
    n = products.shape[1]
    loss = 0.0
    total = np.empty(products.shape[2])
    for i in range(n):
        total[:] = 0.0
        for block in range(len(products)):
            for j in range(len(total)):
                total[j] += products[block, i, j]
        st, st_, ts_, ss, tt, t_t_, s_s_ = total
        positive, cross, own_s = cosine(st, ss, tt)
        _, _, own_t = cosine(st, tt, ss)
        negative1, cross1, own1_s = cosine(st_, ss, t_t_)
        _, _, own1_t_ = cosine(st_, t_t_, ss)
        negative2, cross2, own2_t = cosine(ts_, tt, s_s_)
        _, _, own2_s_ = cosine(ts_, s_s_, tt)
        term1, term2 = margin - positive + negative1, margin - positive + negative2
        # The mask is a factor, so that NaN stays NaN.
        loss += (term1 if not term1 < 0.0 else 0.0) * valid[0, i] / n
        loss += (term2 if not term2 < 0.0 else 0.0) * valid[1, i] / n
        a1 = 1.0 / n if valid[0, i] and term1 >= 0.0 else 0.0
        a2 = 1.0 / n if valid[1, i] and term2 >= 0.0 else 0.0
        a = a1 + a2
        here = factors[i]
        here[0], here[1], here[2] = a1 * own1_s - a * own_s, -a * cross, a1 * cross1
        here[3], here[4], here[5] = -a * cross, a2 * own2_t - a * own_t, a2 * cross2
        here[6], here[7] = a1 * cross1, a1 * own1_t_
        here[8], here[9] = a2 * cross2, a2 * own2_s_
    return loss
