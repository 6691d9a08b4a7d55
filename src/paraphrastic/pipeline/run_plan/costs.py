"""What the jobs of a run take: processor time, memory, disk, and the time until all are done."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from paraphrastic.pipeline.run_plan.jobs import Job
from paraphrastic.pipeline.run_plan.sizes import Sizes

# Seconds of processor time: of each job before its step begins, and of Snakemake for a run and for each job.
STARTING, PLANNING, SCHEDULING = 0.16, 3.0, 0.75
# How long a download takes is for the network to say; to check what came takes this, in seconds.
_CHECKING = 0.1
# Steps that hold all cores, so that nothing disturbs the clock, and use one.
_ALONE = ("measure_speed",)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a job takes, by measurements and without margins.

    `core_seconds` of processor time; `seconds` by the clock of a machine with nothing else to do;
    `memory_mb` at most; `disk_mb` of its outputs; `temporary_mb` on the disk while it runs.
    """

    core_seconds: float
    seconds: float
    memory_mb: float
    disk_mb: float
    temporary_mb: float


@dataclass(frozen=True, slots=True)
class Row:
    """Jobs together: how many, and what they take. `longest` and `memory_mb` are those of one job.

    Units are those of `Cost`; `longest` is in seconds by the clock.
    """

    name: str
    jobs: int
    core_seconds: float
    longest: float
    disk_mb: float
    memory_mb: float


def cost_of(job: Job, sizes: Sizes) -> Cost:
    """What a job takes, whose inputs `sizes` knows; it knows the outputs afterwards."""
    need = job.need(sizes.megabytes)
    step = _CHECKING if job.step == "download_file" else need.seconds
    threads = 1 if job.step in _ALONE else job.threads
    disk, temporary = sizes.add(job)
    return Cost(STARTING + step, STARTING + step / threads, need.mb, disk, temporary)


def wall_seconds(jobs: Sequence[Job], costs: Sequence[Cost], cores: int) -> float:
    """Seconds by the clock on so many cores.

    Jobs start as those that they wait for are done and cores are free, in their order.
    """
    waiting = [len(job.after) for job in jobs]
    dependent: list[list[int]] = [[] for _ in jobs]
    for place, job in enumerate(jobs):
        for other in job.after:
            dependent[other].append(place)
    ready = [place for place, count in enumerate(waiting) if not count]
    running: list[tuple[float, int]] = []
    now, free = PLANNING if jobs else 0.0, cores
    while ready or running:
        # Snakemake passes over a job that does not fit.
        for place in list(ready):
            if min(jobs[place].threads, cores) <= free:
                ready.remove(place)
                free -= min(jobs[place].threads, cores)
                heapq.heappush(running, (now + SCHEDULING + costs[place].seconds, place))
        now, done = heapq.heappop(running)
        free += min(jobs[done].threads, cores)
        for place in dependent[done]:
            waiting[place] -= 1
            if not waiting[place]:
                ready.append(place)
    # However many cores there are, one process starts all jobs.
    return max(now, PLANNING + SCHEDULING * len(jobs)) if jobs else now


def rows_by(names: Sequence[str], costs: Sequence[Cost]) -> list[Row]:
    """A row for each name, in the order of the jobs, of which each has one."""
    return [
        row_of(name, [cost for other, cost in zip(names, costs, strict=True) if other == name])
        for name in dict.fromkeys(names)
    ]


def row_of(name: str, costs: Sequence[Cost]) -> Row:
    """Jobs together."""
    return Row(
        name,
        len(costs),
        sum(cost.core_seconds for cost in costs),
        max((cost.seconds for cost in costs), default=0.0),
        sum(cost.disk_mb for cost in costs),
        max((cost.memory_mb for cost in costs), default=0.0),
    )


def snakemake_row(jobs: int) -> Row:
    """What Snakemake itself takes beside the jobs, on one machine."""
    return Row("snakemake", 0, PLANNING + SCHEDULING * jobs if jobs else 0.0, 0.0, 0.0, 0.0)
