"""What the jobs of a run take: processor time, memory, disk and time by the clock, in tables and lines."""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_csv, write_json
from paraphrastic.pipeline.estimate import duration, in_columns, size
from paraphrastic.pipeline.run_plan.jobs import Job, Run
from paraphrastic.pipeline.run_plan.sizes import KEPT, Sizes

# Seconds of processor time: of each job before its step begins, and of Snakemake for a run and for each job.
STARTING, PLANNING, SCHEDULING = 0.16, 3.0, 0.75
# The network decides how long a download takes; to check what came takes so many seconds.
_CHECKING = 0.1
# Steps that hold all cores, so that nothing disturbs the clock, and use one.
_ALONE = ("measure_speed",)
# Steps of the table by their rules, in the order of the data; all others make tables and figures.
_STEPS = {
    "download": ("download_file",),
    "extract": ("extract_corpus",),
    "train language identification": ("train_language_id",),
    "mine paraphrases": ("measure_similarity", "sample_paraphrases"),
    "score": ("score_pairs",),
    "select": ("select_pairs",),
    "mark contamination": ("gather_testsets", "mark_contamination"),
    "merge": ("merge_pairs",),
    "train vocabularies": ("train_vocabulary",),
    "encode": ("encode_dataset", "import_dataset"),
    "train models": ("train_model",),
    "choose models": ("evaluate_run", "choose_model"),
    "study filters": (
        "list_candidates",
        "mark_candidates",
        "rank_pairs",
        "encode_part",
        "train_part",
        "score_part",
        "evaluate_part",
    ),
    "prepare test sets": (
        "gather_sentences",
        "prepare_sts",
        "prepare_tatoeba",
        "prepare_bucc",
        "prepare_transfer",
    ),
    "evaluate": (
        "initialise_model",
        "evaluate_sts",
        "evaluate_tatoeba",
        "evaluate_bucc",
        "evaluate_transfer",
    ),
    "measure speed": ("measure_speed",),
}
_OTHERS = "describe, tabulate, draw"
_STEP_OF = {rule: step for step, rules in _STEPS.items() for rule in rules}
# What rows can be by.
BY: dict[str, Callable[[Job], str]] = {
    "step": lambda job: _STEP_OF.get(job.step, _OTHERS),
    "rule": lambda job: job.step,
    "model": lambda job: job.of or "all",
}
_COLUMNS = ("jobs", "core_hours", "longest_hours", "disk_gb", "memory_gb")


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
    waiting = TopologicalSorter({place: job.after for place, job in enumerate(jobs)})
    waiting.prepare()
    ready: list[int] = []
    running: list[tuple[float, int]] = []
    now, free = PLANNING if jobs else 0.0, cores
    while waiting.is_active():
        ready += waiting.get_ready()
        # Snakemake passes over a job that does not fit.
        for place in list(ready):
            if min(jobs[place].threads, cores) <= free:
                ready.remove(place)
                free -= min(jobs[place].threads, cores)
                heapq.heappush(running, (now + SCHEDULING + costs[place].seconds, place))
        now, done = heapq.heappop(running)
        free += min(jobs[done].threads, cores)
        waiting.done(done)
    # However many cores there are, one process starts all jobs.
    return max(now, PLANNING + SCHEDULING * len(jobs)) if jobs else now


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run takes.

    Attributes:
        rows: what its jobs take by step, rule or model, and a row for Snakemake's own work.
        total: all rows together.
        cores: cores that it runs on.
        seconds: time by the clock on these cores.
        chain_seconds: the same on as many cores as jobs could use.
        assumed: data sets other than corpora whose size is a guess.
    """

    rows: list[Cost]
    total: Cost
    cores: int
    seconds: float
    chain_seconds: float
    assumed: list[str]


def make_plan(run: Run, *, cores: int, by: str, pairs: Mapping[str, int], kept: Mapping[str, float]) -> Plan:
    """What a run takes on so many cores; `pairs` and `kept` are as in `Sizes`, `by` is a key of `BY`.

    Raises:
        InputError: nobody knows how large a corpus is; or an option names no corpus.
    """
    sizes = Sizes(run, pairs, kept)
    costs = [cost_of(job, sizes) for job in run.jobs]
    if sizes.unknown:
        names = sorted(sizes.unknown)
        example = " ".join(f"{name}=1000000" for name in names)
        raise InputError(
            f"how many pairs {', '.join(names)} will have is not known before the download: say it, such as "
            f"--pairs {example}"
        )
    by_name: dict[str, list[Cost]] = {}
    for job, cost in zip(run.jobs, costs, strict=True):
        by_name.setdefault(BY[by](job), []).append(cost)
    # Steps stand in the order of their table; rules and models stay in that of the data.
    places = {name: place for place, name in enumerate([*_STEPS, _OTHERS])}
    names = sorted(by_name, key=lambda name: places.get(name, 0))
    own = Cost(PLANNING + SCHEDULING * len(costs) if costs else 0.0, name="snakemake", jobs=0)
    return Plan(
        rows=[*(together(name, by_name[name]) for name in names), own],
        total=together("total", [*costs, own]),
        cores=cores,
        seconds=wall_seconds(run.jobs, costs, cores),
        # As many cores as any jobs could use.
        chain_seconds=wall_seconds(run.jobs, costs, sum(job.threads for job in run.jobs)),
        assumed=sorted(sizes.assumed),
    )


def lines_of(plan: Plan) -> list[str]:
    """The plan for a terminal: a table, then what it comes to and what it rests on."""
    if not plan.total.jobs:
        return ["nothing is left to run; --all plans what is there already, too"]
    cells: list[tuple[str, ...]] = [("", "jobs", "core time", "longest job", "disk", "memory")]
    for row in (*plan.rows, plan.total):
        of_jobs = f"{row.jobs:,}", duration(row.seconds), size(row.disk_mb), f"{row.memory_mb:,.0f} MB"
        jobs, *others = of_jobs if row.jobs else ("",) * len(of_jobs)
        cells.append((row.name, jobs, duration(row.core_seconds), *others))
    lines = [
        *in_columns(cells),
        "",
        f"about {duration(plan.seconds)} on {plan.cores} cores, {duration(plan.chain_seconds)} on any number "
        "of them, beside what downloads and queues wait",
    ]
    if plan.total.temporary_mb >= 1:
        lines.append(f"merging has up to {size(plan.total.temporary_mb)} more on the disk")
    lines.append(f"of each corpus, {KEPT:.0%} of the pairs are taken to be kept unless --kept says otherwise")
    if plan.assumed:
        lines.append(f"taken to be small, since their sizes are not known: {', '.join(plan.assumed)}")
    return lines


def write_plan(plan: Plan, output: str | Path) -> None:
    """Write a plan as CSV or JSON, by the ending of the file's name.

    Raises:
        InputError: the name has another ending.
    """
    rows = []
    for row in (*plan.rows, plan.total):
        hours = row.core_seconds / 3600, row.seconds / 3600
        values = (row.jobs, *hours, row.disk_mb / 1e3, row.memory_mb / 1e3)
        rows.append(
            {"name": row.name} | {key: round(value, 6) for key, value in zip(_COLUMNS, values, strict=True)}
        )
    if Path(output).suffix == ".json":
        content = {
            "rows": rows,
            "cores": plan.cores,
            "wall_hours": plan.seconds / 3600,
            "least_wall_hours": plan.chain_seconds / 3600,
            "temporary_disk_gb": plan.total.temporary_mb / 1000,
            "assumed": plan.assumed,
        }
        write_json(output, content)
    elif Path(output).suffix == ".csv":
        write_csv(output, ["name", *_COLUMNS], rows)
    else:
        raise InputError(f"{output}: a plan is written as .csv or .json")
