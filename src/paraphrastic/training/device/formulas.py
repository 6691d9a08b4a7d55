"""What a training step computes, as functions of tensors: the loss, its gradient, and Adam in closed form.

`paraphrastic.training.fused_kernels` says how the steps that a row missed are made up for.
"""

import torch
from torch import Tensor

from paraphrastic.training.fused_kernels import BETA1, BETA2, EPSILON, HORIZON, MAX_RELATIVE_VARIANCE
from paraphrastic.training.loss import COSINE_EPSILON

# Pairs of a step and a number of steps whose sums are taken at a time: 50 MB.
BLOCK = 1 << 14


class Rates:
    """Learning rate and weight decay of every step, from 1.

    Args:
        learning_rate: of the first step.
        steps: over which it falls to zero; 0 where it stays.
        weight_decay: λ.
        device: that tensors are on.
    """

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
        """Logarithm of what weight decay leaves of a parameter in the steps up to `number`, float64."""
        if self._kept is not None:
            # After the last step is asked for only where nothing is missed.
            return self._kept[number.clamp_max(self.steps)]
        return number.double() * torch.log1p(torch.tensor(-self.learning_rate * self.weight_decay).double())


def terms(last: Tensor, k: Tensor, rates: Rates, size: int) -> tuple[Tensor, Tensor]:
    """n_j and d_j of the first `size` steps of the k after step `last`, float64 [rows, size]."""
    j = torch.arange(1, size + 1, device=last.device)
    number = last[:, None] + j
    there = j <= k[:, None]
    number = torch.where(there, number, last[:, None] + 1)
    power = j.double()
    n = rates.rate(number) * BETA1**power / (1.0 - BETA1 ** number.double())
    if rates.weight_decay:
        n = n * torch.exp(rates.kept(last + k)[:, None] - rates.kept(number))
    d = torch.sqrt(BETA2**power / (1.0 - BETA2 ** number.double()))
    return torch.where(there, n, 0.0), d


def missed_steps(last: Tensor, k: Tensor, rates: Rates) -> Tensor:
    """What rows that are up to date with step `last` miss in the k steps after it.

    Args:
        last: int64 [rows].
        k: int64 [rows].
        rates: of the run.

    Returns:
        float32 [rows, 6]: N, d̄, s² (negative where the sum is to be taken as it stands), the row's factor by
        weight decay, and those of its moments.
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
    """Embeddings after what rows [rows, 3, dimension] missed, by the expansion: [rows, dimension]."""
    table, first, second = rows.unbind(1)
    movement, mean, variance, decay, _, _ = missed[:, :, None].unbind(1)
    r = 1.0 / (mean * second.sqrt() + EPSILON)
    return decay * table - movement * first * r * (1.0 + variance * second * r * r)


def caught_up_exactly(rows: Tensor, missed: Tensor, n: Tensor, d: Tensor) -> Tensor:
    """The same by the sum as it stands; `n` and `d` are those of `terms`."""
    table, first, second = rows.unbind(1)
    sums, root = torch.zeros_like(table), second.sqrt()
    for weight, scale in zip(n.float().T[:, :, None], d.float().T[:, :, None], strict=True):
        sums += weight / (scale * root + EPSILON)
    return missed[:, 3, None] * table - sums * first


def hinge_and_factors(products: Tensor, valid: Tensor, margin: float) -> tuple[Tensor, Tensor]:
    """The margin loss of `paraphrastic.training.loss`, and its gradient as factors of the vectors.

    Args:
        products: float32 [n, 4, 4], those of the vectors of s, t, t′ and s′ of each pair.
        valid: bool [n, 2], whether s and t have a negative.
        margin: δ.

    Returns:
        The loss's terms [n, 2], of which it is the sum; and factors [n, 4, 4]: their product with the vectors
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
    # The loss's slopes by the cosines, a symmetric matrix for each pair.
    slopes = [zero, a, a1, zero, a, zero, zero, a2, a1, zero, zero, zero, zero, a2, zero, zero]
    slope = torch.stack(slopes, dim=1).view(-1, 4, 4)
    own = torch.where(lengths > 0.0, (slope * cosines).sum(2) / (cut * lengths), 0.0)
    factors = slope * inverse - own[:, :, None] * torch.eye(4, device=products.device)
    # Multiplied, so that a loss that is not a number stays one.
    return hinge.clamp_min(0.0) * valid / n, factors


def adam(rows: Tensor, table: Tensor, gradient: Tensor, missed: Tensor, constants: Tensor) -> Tensor:
    """Rows after a step of Adam: [rows, 3, dimension].

    Args:
        rows: [rows, 3, dimension], before what they missed.
        table: [rows, dimension], their embeddings after it.
        gradient: [rows, dimension], by these.
        missed: [rows, 6].
        constants: [3], of `step_constants`.
    """
    _, first, second = rows.unbind(1)
    decay1, decay2 = missed[:, 4, None], missed[:, 5, None]
    correction, scale, decay = constants.unbind()
    m = BETA1 * decay1 * first + (1.0 - BETA1) * gradient
    v = BETA2 * decay2 * second + (1.0 - BETA2) * gradient * gradient
    moved = decay * table - correction * m / (v.sqrt() * scale + EPSILON)
    return torch.stack([moved, m, v], dim=1)


def step_constants(numbers: Tensor, rates: Rates) -> Tensor:
    """Of the steps `numbers`, learning rate and 1 / √v without bias, and the decay: float32 [steps, 3]."""
    rate, power = rates.rate(numbers), numbers.double()
    correction = rate / (1.0 - BETA1**power)
    scale = torch.rsqrt(1.0 - BETA2**power)
    return torch.stack([correction, scale, 1.0 - rate * rates.weight_decay], dim=1).float()
