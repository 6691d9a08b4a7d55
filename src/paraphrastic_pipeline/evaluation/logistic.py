"""Logistic regression trained on many subsets of the same rows at once, as cross-validation needs it.

The subsets of a cross-validation share most rows, so one product with the features serves all of them. Their
Hessians are close to the mean Hessian, which is inverted once; preconditioned with this inverse, a few steps
of conjugate gradients solve Newton's equations. The objective is the same as in scikit-learn's
`LogisticRegression` and strictly convex in the weights, so the solution is the same too.
"""

import logging
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot, softplus

from paraphrastic.base.arrays import Bool, Float32, Int8, Int64

log = logging.getLogger(__name__)

# A fit is done when another Newton step would gain less than this, in nats.
_TOLERANCE = 1e-6
_MAX_STEPS = 200
_MAX_INNER_STEPS = 50
# Conjugate gradients stop when the squared residual of Newton's equations is down to this share.
_INNER_REDUCTION = 0.03
# Even new inverses do not bring the steps of conjugate gradients below this number.
_FEW = 3
# A product of the features with fewer vectors than this takes no less time.
_WIDTH = 16
_TINY = torch.finfo(torch.float32).tiny
# Added to a Hessian's diagonal, relative to the diagonal's mean.
_JITTER = 1e-12
# Armijo's rule: the share of the expected decrease that is required, and an allowance for rounding.
_DECREASE, _SLACK = 1e-4, 1e-12
_MAX_HALVINGS = 40
# Rows that are weighted at a time, to avoid a copy of all features.
_BLOCK = 1 << 13


def predict_labels(features: Float32, labels: Int64, subsets: Bool, strengths: Sequence[float]) -> Int8:
    """Train a regression on each subset with each strength, and predict all rows with each regression.

    The objective is C times the sum of the rows' cross-entropies plus half the squared weights; the intercept
    is not penalised. Two classes share one logit; three or more have one each.

    Args:
        features: features of all rows, [n, d].
        labels: classes of the rows, 0 to c - 1, [n]. Every subset contains all classes.
        subsets: masks of the rows in each subset, [k, n].
        strengths: values of C, in ascending order; each fit starts at the previous solution.

    Returns:
        Predicted classes, [len(strengths), k, n].
    """
    regression = _Regression(features, labels, subsets)
    return np.stack([regression.fit(strength) for strength in strengths])


class _Regression:
    """The weights of m logits for all k subsets, [k, m, d + 1], and the logits of all rows, [k, m, n].

    Weights, gradients and objectives are in double precision; for directions, single precision is enough.
    """

    def __init__(self, features: Float32, labels: Int64, subsets: Bool) -> None:
        n, d = features.shape
        self.features = torch.ones((n, d + 1), dtype=torch.float64)
        self.features[:, :d] = torch.from_numpy(features)
        self.narrow = self.features.float()
        self.subsets = torch.from_numpy(subsets).double().unsqueeze(1)
        targets = one_hot(torch.from_numpy(labels)).T.double()
        self.binary = len(targets) == 2
        self.targets = targets[1:] if self.binary else targets
        shape = len(subsets), len(self.targets)
        self.weights = torch.zeros((*shape, d + 1), dtype=torch.float64)
        self.logits = torch.zeros((*shape, n), dtype=torch.float64)
        self.penalty = torch.zeros(d + 1, dtype=torch.float64)

    def fit(self, strength: float) -> Int8:
        """Train on every subset, starting at the current weights; return the classes of all rows, [k, n]."""
        self.penalty[:-1] = 1 / strength
        active = torch.arange(len(self.subsets))
        inverses, spent = self._inverse_hessians(), 0
        for _ in range(_MAX_STEPS):
            active, steps = self._newton_step(active, inverses)
            if not len(active):
                break
            spent += steps * max(len(active), _WIDTH)
            # The steps have cost as much as new inverses would, and new inverses may save some.
            if steps > _FEW and spent > len(self.penalty):
                inverses, spent = self._inverse_hessians(), 0
        else:
            log.warning("C = %g: %d of %d fits did not converge", strength, len(active), len(self.subsets))
        classes = self.logits[:, 0] > 0 if self.binary else self.logits.argmax(1)
        return classes.to(torch.int8).numpy()

    def _newton_step(self, active: Tensor, inverses: Tensor) -> tuple[Tensor, int]:
        """Move the active subsets that have not converged; return them and the conjugate-gradient steps."""
        probabilities = self._probabilities(self.logits[active])
        gradient = _pulled(self.features, self.subsets[active] * (probabilities - self.targets))
        gradient.addcmul_(self.penalty, self.weights[active])
        narrow = gradient.float()
        going = _inner(narrow, _solved(inverses, narrow)) > _TOLERANCE
        active = active[going]
        if not len(active):
            return active, 0
        subsets, weights, logits = self.subsets[active], self.weights[active], self.logits[active]
        direction, change, steps = self._direction(
            narrow[going], subsets.float(), probabilities[going].float(), inverses
        )

        def objective(step: Tensor) -> Tensor:
            moved = torch.addcmul(weights, step, direction)
            losses = self._losses(torch.addcmul(logits, step, change)).mul_(subsets[:, 0])
            return losses.sum(1) + _inner(moved, self.penalty * moved) / 2

        step = _line_search(objective, _inner(gradient[going], direction))
        self.weights[active] = weights.addcmul_(step, direction)
        self.logits[active] = logits.addcmul_(step, change)
        return active, steps

    def _direction(
        self, gradient: Tensor, subsets: Tensor, probabilities: Tensor, inverses: Tensor
    ) -> tuple[Tensor, Tensor, int]:
        """Newton's direction, the change of the logits along it, and the steps of conjugate gradients."""
        residual, penalty = -gradient, self.penalty.float()
        conjugate = _solved(inverses, residual)
        error = _inner(residual, conjugate)
        goal = _INNER_REDUCTION * error
        direction, change = torch.zeros_like(residual), torch.zeros_like(probabilities)
        weighted = subsets * probabilities
        if self.binary:
            weighted.mul_(1 - probabilities)
        steps = 0
        while steps < _MAX_INNER_STEPS and (error > goal).any():
            steps += 1
            along = (conjugate.flatten(0, 1) @ self.narrow.T).reshape(probabilities.shape)
            slopes = along if self.binary else along - (probabilities * along).sum(1, keepdim=True)
            curved = _pulled(self.narrow, weighted * slopes).addcmul_(penalty, conjugate)
            step = _wide(error / _inner(conjugate, curved).clamp_min(_TINY))
            direction.addcmul_(step, conjugate)
            change.addcmul_(step, along)
            residual.addcmul_(step, curved, value=-1)
            solved = _solved(inverses, residual)
            previous, error = error, _inner(residual, solved)
            conjugate = solved.addcmul_(_wide(error / previous.clamp_min(_TINY)), conjugate)
        return direction.double(), change.double(), steps

    def _inverse_hessians(self) -> Tensor:
        """Inverse of the subsets' mean Hessian, one block for each logit, [m, d + 1, d + 1]."""
        probabilities = self._probabilities(self.logits)
        curvature = (self.subsets * probabilities * (1 - probabilities)).mean(0)
        identity = torch.eye(len(self.penalty), dtype=torch.float64)
        inverses = []
        for weights in curvature:
            hessian = torch.diag(self.penalty)
            for rows, of_rows in zip(self.features.split(_BLOCK), weights.split(_BLOCK), strict=True):
                hessian.addmm_((rows * of_rows.unsqueeze(1)).T, rows)
            # If features are large against the penalty, rounding could make the Hessian indefinite.
            hessian.diagonal().add_(_JITTER * hessian.diagonal().mean())
            # LAPACK's own inverse from the factor takes ten times longer.
            inverses.append(torch.cholesky_solve(identity, torch.linalg.cholesky(hessian)).float())
        return torch.stack(inverses)

    def _probabilities(self, logits: Tensor) -> Tensor:
        return logits.sigmoid() if self.binary else logits.softmax(1)

    def _losses(self, logits: Tensor) -> Tensor:
        """Cross-entropies, [k, n]."""
        if self.binary:
            return softplus(logits[:, 0]).sub_(logits[:, 0] * self.targets[0])
        return logits.logsumexp(1).sub_((logits * self.targets).sum(1))


def _pulled(features: Tensor, rows: Tensor) -> Tensor:
    """Sums of the features, weighted by `rows` [k, m, n]; [k, m, d + 1]."""
    return (rows.flatten(0, 1) @ features).reshape(*rows.shape[:2], -1)


def _solved(inverses: Tensor, right: Tensor) -> Tensor:
    return torch.bmm(right.transpose(0, 1), inverses).transpose(0, 1)


def _inner(first: Tensor, second: Tensor) -> Tensor:
    """Inner products of two tensors [k, m, d + 1], one for each subset, [k]."""
    return (first * second).sum((1, 2))


def _wide(of_subsets: Tensor) -> Tensor:
    return of_subsets[:, None, None]


def _line_search(objective: Callable[[Tensor], Tensor], slope: Tensor) -> Tensor:
    """Step sizes [k, 1, 1], each halved from 1 until it lowers its subset's objective enough (Armijo)."""
    step = torch.ones_like(slope)
    start = objective(_wide(torch.zeros_like(slope)))
    for _ in range(_MAX_HALVINGS):
        allowed = start + _DECREASE * step * slope + _SLACK * start.abs()
        worse = objective(_wide(step)) > allowed
        if not worse.any():
            break
        step = torch.where(worse, step / 2, step)
    return _wide(step)
