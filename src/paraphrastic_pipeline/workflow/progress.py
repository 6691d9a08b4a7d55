"""What is done of a run, what it is doing, and how long the rest will take."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import exp, log
from statistics import fmean
from time import monotonic

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.training.durations import in_words
from paraphrastic_pipeline.workflow.plan import Cost, cost_of, phase_of, wall_seconds
from paraphrastic_pipeline.workflow.sizes import Job, PlannedRun, Sizes

# The plan of each kind of step counts for the pace of the run as if so many seconds of it had been right, and
# that pace counts for each kind as much as so many planned seconds of its own: the first steps say little.
_TRUST, _TRUST_OF_STEP = 0.3, 1.0
# A step that has taken longer than expected will take this share of its time more.
_OVERTIME = 0.5
_BAR = 20
# Number of running steps that are named.
_NAMED = 4
# Seconds of a step whose plan is unknown.
_USUAL = 5.0


class Progress:
    """The progress of a run.

    Args:
        jobs: the jobs, with the numbers that Snakemake gives them, each after those that it waits for.
        costs: what each of them takes, by the plan.
        cores: number of cores that the run has.
        clock: seconds that have passed since some moment.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        costs: Sequence[Cost],
        *,
        cores: int,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._jobs, self._costs = jobs, costs
        self._cores, self._clock, self._start = cores, clock, clock()
        self._places = {job.number: place for place, job in enumerate(jobs)}
        self._planned = wall_seconds(self._jobs, self._costs, cores)
        # Seconds that finished jobs took and were planned to take, by step.
        self._taken: dict[str, tuple[float, float]] = {}
        self._done: set[int] = set()
        self._stopped = False
        # When each running job has begun, with its description.
        self._running: dict[int, tuple[float, str]] = {}

    def begin(self, number: int, message: str) -> None:
        """A job begins; numbers that are not planned are ignored, such as those of rules without output."""
        if number in self._places:
            self._running[number] = self._clock(), message

    def end(self, number: int) -> None:
        """A job has ended, well or not."""
        self._running.pop(number, None)

    def stop(self) -> None:
        """The run is over, with all jobs or without."""
        self._stopped = True
        self._running.clear()

    def finish(self, number: int) -> None:
        """A job is finished."""
        now = self._clock()
        if number in self._places:
            place = self._places[number]
            step, begun = self._jobs[place].step, self._running.get(number, (now, ""))[0]
            taken, planned = self._taken.get(step, (0.0, 0.0))
            self._taken[step] = taken + now - begun, planned + self._costs[place].seconds
            self._done.add(number)
        self.end(number)

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._start

    @property
    def seconds_left(self) -> float:
        """Seconds that the rest will take, by the plan and by the pace of the steps so far.

        Steps of one kind are planned too long or too short together. So they go by their own pace, and by
        that of the whole run as long as few of them are finished.
        """
        now = self._clock()
        kept = [place for place, job in enumerate(self._jobs) if job.number not in self._done]
        at = {place: new for new, place in enumerate(kept)}
        paces = {step: self._pace(step) for step in {self._jobs[place].step for place in kept}}
        jobs, costs = [], []
        for place in kept:
            job, cost = self._jobs[place], self._costs[place]
            jobs.append(replace(job, after=tuple(at[before] for before in job.after if before in at)))
            seconds = cost.seconds * paces[job.step]
            if job.number in self._running:
                passed = now - self._running[job.number][0]
                seconds = max(seconds - passed, _OVERTIME * passed)
            costs.append(replace(cost, seconds=seconds))
        return wall_seconds(jobs, costs, self._cores)

    def _pace(self, step: str) -> float:
        """How many times as long as planned the steps of a kind take."""
        paces = [(taken + _TRUST) / (planned + _TRUST) for taken, planned in self._taken.values()]
        # A geometric mean, so that one kind of step that takes much longer does not stand for all.
        usual = fmean(map(log, paces)) if paces else 0.0
        taken, planned = self._taken.get(step, (0.0, 0.0))
        return (taken + _TRUST_OF_STEP * exp(usual)) / (planned + _TRUST_OF_STEP)

    def summary(self) -> str:
        """One line on the whole run."""
        total, done = len(self._jobs), len(self._done)
        passed = in_words(self.seconds)
        if done == total:
            return f"{total} of {total} steps are done, after {passed}"
        if self._stopped:
            return f"{done} of {total} steps are done; the run has ended after {passed}"
        return f"{done} of {total} steps are done, after {passed}; about {in_words(self.seconds_left)} left"

    def lines(self, width: int, height: int) -> list[str]:
        """Lines for a terminal: one for each phase with a bar, what is running, and the summary.

        If they would not fit, phases that are over or have not begun are left out.
        """
        phases: dict[str, list[int]] = {}
        for job in self._jobs:
            phases.setdefault(phase_of(job.step), []).append(job.number)
        running = [message for _, message in self._running.values()]
        named = [f"  {message}" for message in running[:_NAMED]]
        if len(running) > _NAMED:
            named.append(f"  and {len(running) - _NAMED} more")
        bar = max(4, min(_BAR, width - 50))
        rows = {name: self._row(name, numbers, bar) for name, numbers in phases.items()}
        if len(rows) + len(named) + 2 > height:
            rows = {name: row for name, row in rows.items() if self._is_going_on(phases[name])}
        return [line[: max(1, width - 1)] for line in [*rows.values(), *named, self.summary()]]

    def _row(self, name: str, numbers: Sequence[int], length: int) -> str:
        done = len(self._done.intersection(numbers))
        filled = length * done // len(numbers)
        bar = "█" * filled + "░" * (length - filled)
        return f"{name:<30} {bar} {done:>5} of {len(numbers)}"

    def _is_going_on(self, numbers: Iterable[int]) -> bool:
        return any(number in self._running for number in numbers)


def costs_of(run: PlannedRun) -> list[Cost]:
    """What each job takes; a size that is not known before a download is taken for that of a small file."""
    sizes = Sizes(run, {}, {})
    costs = []
    for job in run.jobs:
        try:
            costs.append(cost_of(job, sizes))
        except (InputError, OSError):
            costs.append(Cost(_USUAL, _USUAL))
    return costs
