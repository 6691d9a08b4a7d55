"""The formulas of a training step, on tensors: the loss, its gradient, and Adam with missed steps.

`paraphrastic_pipeline.training.fused_kernels` explains how a row catches up with the steps that it missed.
"""

import torch
from torch import Tensor

from paraphrastic_pipeline.training.fused_kernels import BETA1, BETA2, EPSILON, HORIZON, MAX_RELATIVE_VARIANCE
from paraphrastic_pipeline.training.loss import COSINE_EPSILON

# Rows whose missed steps are summed at a time; their terms take 50 MB.
BLOCK = 1 << 14


class Rates:
    """Learning rate and weight decay by step; the rate falls to zero over `steps`, unless `steps` is 0."""

    def __init__(self, learning_rate: float, steps: int, weight_decay: float, device: torch.device) -> None:
        self.learning_rate = learning_rate
        self.steps = steps
        self.weight_decay = weight_decay
        self._kept: Tensor | None = None
        if weight_decay and steps:
            numbers = torch.arange(1, steps + 1, dtype=torch.float64, device=device)
            falling = learning_rate * (1.0 - (numbers - 1.0) / steps)
            logarithms = torch.log1p(-falling * weight_decay)
            self._kept = torch.nn.functional.pad(logarithms.cumsum(0), (1, 0))

    def rate(self, number: Tensor) -> Tensor:
        """Learning rate of step `number`, float64."""
        if not self.steps:
            return torch.full_like(number, self.learning_rate, dtype=torch.float64)
        return self.learning_rate * (1.0 - (number.double() - 1.0) / self.steps)

    def kept(self, number: Tensor) -> Tensor:
        """Logarithm of the share of a parameter that weight decay leaves after step `number`, float64."""
        if self._kept is not None:
            # Only rows that miss nothing ask for a step after the last one, and then its value cancels out.
            return self._kept[number.clamp_max(self.steps)]
        return number.double() * torch.log1p(torch.tensor(-self.learning_rate * self.weight_decay).double())


def terms(last: Tensor, k: Tensor, rates: Rates, size: int) -> tuple[Tensor, Tensor]:
    """n_j and d_j of the first `size` of the k steps after step `last`, float64 [rows, size]."""
    j = torch.arange(1, size + 1, device=last.device)
    number = last[:, None] + j
    is_step = j <= k[:, None]
    number = torch.where(is_step, number, last[:, None] + 1)
    power = j.double()
    n = rates.rate(number) * BETA1**power / (1.0 - BETA1 ** number.double())
    if rates.weight_decay:
        n = n * torch.exp(rates.kept(last + k)[:, None] - rates.kept(number))
    d = torch.sqrt(BETA2**power / (1.0 - BETA2 ** number.double()))
    return torch.where(is_step, n, 0.0), d


def missed_steps(last: Tensor, k: Tensor, rates: Rates) -> Tensor:
    """The effect of the k steps after `last` on rows that are up to date with `last`; both are int64 [rows].

    The result is float32 [rows, 6]: N, d̄, s² (negative if the sum must be computed exactly), the factor that
    weight decay gives the row, and the factors of its two moments.
    """
    size = min(HORIZON, int(k.max())) if len(k) else 0
    blocks = [_moments(*part, rates, size) for part in zip(last.split(BLOCK), k.split(BLOCK), strict=True)]
    movement, mean, variance = (torch.cat(figures) for figures in zip(*blocks, strict=True))
    decay = torch.ones_like(movement)
    if rates.weight_decay:
        decay = torch.exp(rates.kept(last + k) - rates.kept(last))
    steps = k.double()
    figures = (movement, mean, variance, decay, BETA1**steps, BETA2**steps)
    return torch.stack(figures, dim=1).float()


def _moments(last: Tensor, k: Tensor, rates: Rates, size: int) -> tuple[Tensor, Tensor, Tensor]:
    n, d = terms(last, k, rates, size)
    # A row that no step has touched has no momentum.
    n = torch.where(last[:, None] > 0, n, 0.0)
    total = n.sum(1)
    divisor = torch.where(total > 0, total, 1.0)
    mean = (n * d).sum(1) / divisor
    variance = (n * (d - mean[:, None]).square()).sum(1) / divisor
    return total, mean, torch.where(variance <= MAX_RELATIVE_VARIANCE * mean * mean, variance, -1.0)


def caught_up(rows: Tensor, missed: Tensor) -> Tensor:
    """Embeddings of rows [rows, 3, dimension] after missed steps, by the expansion: [rows, dimension]."""
    table, first, second = rows.unbind(1)
    movement, mean, variance, decay, _, _ = missed[:, :, None].unbind(1)
    r = 1.0 / (mean * second.sqrt() + EPSILON)
    return decay * table - movement * first * r * (1.0 + variance * second * r * r)


def caught_up_exactly(rows: Tensor, missed: Tensor, n: Tensor, d: Tensor) -> Tensor:
    """The same as `caught_up`, by the exact sum; `n` and `d` come from `terms`."""
    table, first, second = rows.unbind(1)
    sums, root = torch.zeros_like(table), second.sqrt()
    for weight, scale in zip(n.float().T[:, :, None], d.float().T[:, :, None], strict=True):
        sums += weight / (scale * root + EPSILON)
    return missed[:, 3, None] * table - sums * first


def hinge_and_factors(products: Tensor, valid: Tensor, margin: float) -> tuple[Tensor, Tensor]:
    """The margin loss of `paraphrastic_pipeline.training.loss`, and its gradient as factors of the vectors.

    Args:
        products: float32 [n, 4, 4], the dot products of each pair's vectors s, t, t′ and s′.
        valid: bool [n, 2], whether s and t have a negative.
        margin: δ.

    Returns:
        The terms [n, 2] whose sum is the loss, and factors [n, 4, 4] whose product with the vectors
        [n, 4, dimension] is the gradient.
    """
    n = len(products)
    lengths = products.diagonal(dim1=1, dim2=2).sqrt()
    cut = lengths.clamp_min(COSINE_EPSILON)
    inverse = 1.0 / (cut[:, :, None] * cut[:, None, :])
    cosines = products * inverse
    positive = cosines[:, 0, 1, None]
    hinge = margin - positive + torch.stack([cosines[:, 0, 2], cosines[:, 1, 3]], dim=1)
    a1, a2 = (((hinge >= 0.0) & valid) / n).unbind(1)
    a, zero = -a1 - a2, torch.zeros_like(a1)
    # Derivatives of the loss with respect to the cosines: one symmetric matrix per pair.
    slopes = [zero, a, a1, zero, a, zero, zero, a2, a1, zero, zero, zero, zero, a2, zero, zero]
    slope = torch.stack(slopes, dim=1).view(-1, 4, 4)
    diagonal = torch.where(lengths > 0.0, (slope * cosines).sum(2) / (cut * lengths), 0.0)
    factors = slope * inverse - diagonal[:, :, None] * torch.eye(4, device=products.device)
    # The mask is a factor, so that NaN stays NaN.
    return hinge.clamp_min(0.0) * valid / n, factors


def adam(rows: Tensor, table: Tensor, gradient: Tensor, missed: Tensor, constants: Tensor) -> Tensor:
    """Rows after a step of Adam: [rows, 3, dimension].

    Args:
        rows: [rows, 3, dimension], before the steps that they missed.
        table: [rows, dimension], their embeddings after those steps.
        gradient: [rows, dimension], with respect to `table`.
        missed: [rows, 6], from `missed_steps`.
        constants: [3], from `step_constants`.
    """
    _, first, second = rows.unbind(1)
    decay1, decay2 = missed[:, 4, None], missed[:, 5, None]
    correction, scale, decay = constants.unbind()
    m = BETA1 * decay1 * first + (1.0 - BETA1) * gradient
    v = BETA2 * decay2 * second + (1.0 - BETA2) * gradient * gradient
    moved = decay * table - correction * m / (v.sqrt() * scale + EPSILON)
    return torch.stack([moved, m, v], dim=1)


def step_constants(numbers: Tensor, rates: Rates) -> Tensor:
    """Bias-corrected learning rate, factor of √v and decay factor of steps `numbers`: float32 [steps, 3]."""
    rate, power = rates.rate(numbers), numbers.double()
    correction = rate / (1.0 - BETA1**power)
    scale = torch.rsqrt(1.0 - BETA2**power)
    return torch.stack([correction, scale, 1.0 - rate * rates.weight_decay], dim=1).float()
