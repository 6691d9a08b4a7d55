"""Rows of tables: what one system, its training runs, or several models together reach."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.evaluation.results import Measurement, Result
from paraphrastic.evaluation.significance import p_value

# Largest p at which a difference is said to hold.
SIGNIFICANCE = 0.05


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a table: the measurement, and its deviation over the seeds of training, if several."""

    measurement: Measurement
    deviation: float | None = None


@dataclass(frozen=True, slots=True)
class EvaluatedSystem:
    """A system of a table, by the name of its folder, with the results of each of its training runs."""

    name: str
    results: tuple[Result, ...]

    def figure(self, measurement: str) -> Figure | None:
        """The figure of this name; of several runs the mean, with resamples of the mean. None without one."""
        if not all(measurement in result for result in self.results):
            return None
        found = [result.measurement(measurement) for result in self.results]
        if len(found) == 1:
            return Figure(found[0])
        if len({(each.digest, len(each.samples)) for each in found}) > 1:
            paths = ", ".join(str(result.path) for result in self.results)
            raise InputError(f"{paths}: {measurement}: not of the same test data")
        values = [each.value for each in found]
        mean = replace(
            found[0],
            value=float(np.mean(values)),
            samples=np.mean([each.samples for each in found], axis=0),
            scores=None,
            gold=None,
        )
        return Figure(mean, float(np.std(values, ddof=1)))


def best(figures: Sequence[Figure | None], published: Sequence[float] = ()) -> int | None:
    """The figure that is better than all others, where each of the differences holds; None without one.

    Against measured ones by `p_value`; against published ones, of which nothing but the figure is known,
    where they are outside the 95 % interval.

    Args:
        figures: of a column, None where there is none.
        published: figures of other people's, in the same unit.
    """
    there = [(index, each.measurement) for index, each in enumerate(figures) if each is not None]
    if not there or len(there) + len(published) < 2:
        return None
    sign = 1.0 if there[0][1].higher_is_better else -1.0
    index, first = max(there, key=lambda each: sign * each[1].value)
    for other, second in there:
        if other != index:
            p = p_value(first, second)
            if p is None or not p < SIGNIFICANCE or first.value == second.value:
                return None
    worst = np.percentile(sign * first.samples, 2.5)
    return index if all(worst > sign * value for value in published) else None


def gathered(systems: Sequence[EvaluatedSystem], measurements: Sequence[str]) -> dict[str, EvaluatedSystem]:
    """For each measurement, the system that is for it above all: of those that have it, the one with fewest.

    A model of English and Arabic has the tracks with Arabic, and the English one; a model of English has the
    English one alone. Empty where one system has them all.
    """
    chosen = {}
    for measurement in measurements:
        having = [each for each in systems if each.figure(measurement) is not None]
        if having:
            chosen[measurement] = min(
                having, key=lambda each: sum(name in each.results[0] for name in measurements)
            )
    return chosen if len({each.name for each in chosen.values()}) > 1 else {}
