"""What the jobs of a run take: processor time, memory and disk, and the time until all are done."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from paraphrastic.pipeline.run_plan.jobs import Job
from paraphrastic.pipeline.run_plan.sizes import Sizes

# Seconds of processor time: of each job before its step begins, and of Snakemake for a run and for each job.
STARTING, PLANNING, SCHEDULING = 0.16, 3.0, 0.75
# The network decides how long a download takes; to check what came takes so many seconds.
_CHECKING = 0.1
# Steps that hold all cores, so that nothing disturbs the clock, and use one.
_ALONE = ("measure_speed",)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one job takes, or several together, as measured and without margins.

    Attributes:
        core_seconds: processor time.
        seconds: time by the clock of a machine with nothing else to do; the most of one job.
        memory_mb: most memory of one job.
        disk_mb: size of the outputs.
        temporary_mb: what a job has on the disk only while it runs; the most of one job.
        name: of the jobs' step, rule or model.
        jobs: how many they are.
    """

    core_seconds: float = 0.0
    seconds: float = 0.0
    memory_mb: float = 0.0
    disk_mb: float = 0.0
    temporary_mb: float = 0.0
    name: str = ""
    jobs: int = 1


def together(name: str, costs: Sequence[Cost]) -> Cost:
    """What several jobs take: all of their processor time and disk, and the most of one job else."""
    return Cost(
        core_seconds=sum((cost.core_seconds for cost in costs), 0.0),
        seconds=max((cost.seconds for cost in costs), default=0.0),
        memory_mb=max((cost.memory_mb for cost in costs), default=0.0),
        disk_mb=sum((cost.disk_mb for cost in costs), 0.0),
        temporary_mb=max((cost.temporary_mb for cost in costs), default=0.0),
        name=name,
        jobs=sum(cost.jobs for cost in costs),
    )


def cost_of(job: Job, sizes: Sizes) -> Cost:
    """What a job takes; `sizes` knows its inputs, and afterwards its outputs, too."""
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
