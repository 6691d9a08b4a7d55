"""The margin loss over a mini-batch and its negatives."""

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity


def margin_loss(
    source: Tensor,
    target: Tensor,
    source_negative: Tensor,
    target_negative: Tensor,
    valid: Tensor,
    *,
    margin: float,
) -> Tensor:
    """`[δ − cos(s, t) + cos(s, t′)]₊ + [δ − cos(s, t) + cos(t, s′)]₊`, each averaged over the mini-batch.

    Equation 1 of Wieting et al. 2021, for both directions as in the original code.

    Args:
        source: [n, dim], vectors of the sentences s.
        target: [n, dim], of their translations or paraphrases t.
        source_negative: [n, dim], of the negatives t′ of s.
        target_negative: [n, dim], of the negatives s′ of t.
        valid: bool [2, n], false where s (first row) or t (second row) has no negative: its term is zero.
        margin: δ.
    """
    positive = cosine_similarity(source, target)
    terms = torch.stack(
        [
            margin - positive + cosine_similarity(source, source_negative),
            margin - positive + cosine_similarity(target, target_negative),
        ]
    )
    return (terms.clamp_min(0.0) * valid).mean(dim=1).sum()
