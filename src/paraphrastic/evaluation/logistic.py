"""Logistic regression trained on many subsets of the same rows at once, as cross-validation needs it.

The subsets of a cross-validation have most rows in common: one product with the features serves all of them,
and the mean of their Hessians, inverted once, is so close to each of them that Newton's equations are solved
in a few steps of conjugate gradients. The objective is that of scikit-learn's `LogisticRegression`, strictly
convex in the weights, so that the solution is the same.
"""

import logging
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import one_hot, softplus

log = logging.getLogger(__name__)

# Nats that another step of Newton's would gain, at which a fit is done.
_TOLERANCE = 1e-6
_MAX_STEPS = 200
_MAX_INNER_STEPS = 50
# Of the squared residual of Newton's equations.
_INNER_REDUCTION = 0.03
# No inverse of the Hessians makes steps of conjugate gradients fewer than these.
_FEW = 3
# A product with fewer vectors takes no less time.
_WIDTH = 16
_TINY = torch.finfo(torch.float32).tiny
# Of the mean of a Hessian's diagonal.
_JITTER = 1e-12
# Of Armijo's rule; the second allows for rounding.
_DECREASE, _SLACK = 1e-4, 1e-12
_MAX_HALVINGS = 40
# Rows that are weighted at a time, so that no copy of all features is needed.
_BLOCK = 1 << 13


def predict_labels(
    features: npt.NDArray[np.float32],
    labels: npt.NDArray[np.int64],
    subsets: npt.NDArray[np.bool_],
    strengths: Sequence[float],
) -> npt.NDArray[np.int8]:
    """Predict all rows by the regressions that were trained on each subset of them with each strength.

    The objective is C times the sum of the rows' cross-entropies plus half the squared weights; the intercept
    is not penalised. Two classes have one logit, more have one each.

    Args:
        features: of all rows, [n, d].
        labels: their classes, 0 to c - 1; all classes are in every subset. [n]
        subsets: whether a row is in a subset, [k, n].
        strengths: values of C, in ascending order: each begins at the solution of the one before.

    Returns:
        Classes, [len(strengths), k, n].
    """
    regression = _Regression(features, labels, subsets)
    return np.stack([regression.fit(strength) for strength in strengths])


class _Regression:
    """The weights for all k subsets, [k, m, d + 1], and what they give all rows, [k, m, n], of m logits.

    Weights, gradients and objectives are in double precision; directions need not be.
    """

    def __init__(
        self,
        features: npt.NDArray[np.float32],
        labels: npt.NDArray[np.int64],
        subsets: npt.NDArray[np.bool_],
    ) -> None:
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

    def fit(self, strength: float) -> npt.NDArray[np.int8]:
        """Train on every subset from where the weights stand; the classes of all rows, [k, n]."""
        self.penalty[:-1] = 1 / strength
        active = torch.arange(len(self.subsets))
        inverses, spent = self._inverse_hessians(), 0
        for _ in range(_MAX_STEPS):
            active, steps = self._newton_step(active, inverses)
            if not len(active):
                break
            spent += steps * max(len(active), _WIDTH)
            # As much was spent inside as new inverses cost, which may make it less.
            if steps > _FEW and spent > len(self.penalty):
                inverses, spent = self._inverse_hessians(), 0
        else:
            log.warning("C = %g: %d of %d fits did not converge", strength, len(active), len(self.subsets))
        classes = self.logits[:, 0] > 0 if self.binary else self.logits.argmax(1)
        return classes.to(torch.int8).numpy()

    def _newton_step(self, active: torch.Tensor, inverses: torch.Tensor) -> tuple[torch.Tensor, int]:
        """Move the weights of those active subsets that have not converged; these, and the steps inside."""
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

        def objective(step: torch.Tensor) -> torch.Tensor:
            moved = torch.addcmul(weights, step, direction)
            losses = self._losses(torch.addcmul(logits, step, change)).mul_(subsets[:, 0])
            return losses.sum(1) + _inner(moved, self.penalty * moved) / 2

        step = _line_search(objective, _inner(gradient[going], direction))
        self.weights[active] = weights.addcmul_(step, direction)
        self.logits[active] = logits.addcmul_(step, change)
        return active, steps

    def _direction(
        self,
        gradient: torch.Tensor,
        subsets: torch.Tensor,
        probabilities: torch.Tensor,
        inverses: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, int]:
        """Newton's direction by conjugate gradients, the change of the logits along it, and the steps."""
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

    def _inverse_hessians(self) -> torch.Tensor:
        """Inverse of the mean of the subsets' Hessians, for each logit alone, [m, d + 1, d + 1]."""
        probabilities = self._probabilities(self.logits)
        curvature = (self.subsets * probabilities * (1 - probabilities)).mean(0)
        identity = torch.eye(len(self.penalty), dtype=torch.float64)
        inverses = []
        for weights in curvature:
            hessian = torch.diag(self.penalty)
            for rows, of_rows in zip(self.features.split(_BLOCK), weights.split(_BLOCK), strict=True):
                hessian.addmm_((rows * of_rows.unsqueeze(1)).T, rows)
            # Where features are large against the penalty, rounding must not make it indefinite.
            hessian.diagonal().add_(_JITTER * hessian.diagonal().mean())
            # LAPACK's own inverse from the factor takes ten times longer.
            inverses.append(torch.cholesky_solve(identity, torch.linalg.cholesky(hessian)).float())
        return torch.stack(inverses)

    def _probabilities(self, logits: torch.Tensor) -> torch.Tensor:
        return logits.sigmoid() if self.binary else logits.softmax(1)

    def _losses(self, logits: torch.Tensor) -> torch.Tensor:
        """Cross-entropies, [k, n]."""
        if self.binary:
            return softplus(logits[:, 0]).sub_(logits[:, 0] * self.targets[0])
        return logits.logsumexp(1).sub_((logits * self.targets).sum(1))


def _pulled(features: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Sums of the rows' features, weighted: [k, m, d + 1]."""
    return (rows.flatten(0, 1) @ features).reshape(*rows.shape[:2], -1)


def _solved(inverses: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return torch.bmm(right.transpose(0, 1), inverses).transpose(0, 1)


def _inner(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Inner products of the subsets' weights, [k]."""
    return (first * second).sum((1, 2))


def _wide(of_subsets: torch.Tensor) -> torch.Tensor:
    return of_subsets[:, None, None]


def _line_search(objective: Callable[[torch.Tensor], torch.Tensor], slope: torch.Tensor) -> torch.Tensor:
    """Steps of the subsets that lower their objectives enough (Armijo), each halved from 1; [k, 1, 1]."""
    step = torch.ones_like(slope)
    start = objective(_wide(torch.zeros_like(slope)))
    for _ in range(_MAX_HALVINGS):
        allowed = start + _DECREASE * step * slope + _SLACK * start.abs()
        worse = objective(_wide(step)) > allowed
        if not worse.any():
            break
        step = torch.where(worse, step / 2, step)
    return _wide(step)
