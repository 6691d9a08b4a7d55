"""What a run will take, before it is run: processor time, memory, disk and time by the clock.

No other module of the library uses Snakemake. This one must, since only the rules know the jobs.
"""

import heapq
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.settings.check import DEFAULT_CONFIG, read_config
from paraphrastic_pipeline.workflow.estimate import duration, in_columns, size
from paraphrastic_pipeline.workflow.model_needs import TRANSFORMER_MB
from paraphrastic_pipeline.workflow.resources import ALONE
from paraphrastic_pipeline.workflow.sizes import KEPT, Job, PlannedRun, Sizes

# Seconds of processor time: per job before its step begins, and for Snakemake per run and per job.
STARTING, PLANNING, SCHEDULING = 0.1, 3.0, 0.06
# Seconds to check a download. How long the download itself takes depends on the network.
_CHECKING = 0.1
# The table's steps and their rules, in the order of the data; all other rules make tables and figures.
_STEPS = {
    "download": "download_file",
    "extract": "extract_corpus",
    "mine paraphrases": "measure_similarity sample_paraphrases translate_corpus gather_translations",
    "score": "score_pairs",
    "select": "select_pairs",
    "mark contamination": "gather_testsets mark_contamination",
    "merge": "merge_pairs",
    "train vocabularies": "train_vocabulary",
    "encode": "encode_dataset tokenize_pairs import_dataset",
    "embed with teachers": "embed_teacher embed_pieces embed_sample fit_tables",
    "train models": "train_model train_transformer",
    "choose models": "evaluate_run choose_model choose_transformer",
    "prepare test sets": "prepare_testsets prepare_tatoeba prepare_bucc prepare_transfer",
    "evaluate": "initialise_model initialise_transformer",
    "measure speed": "measure_speed",
}
_OTHERS = "describe, tabulate, plot"
_STEP_OF = {rule: step for step, rules in _STEPS.items() for rule in rules.split()}


def phase_of(rule: str) -> str:
    """Name of the phase of a run that a rule belongs to, such as `train models`."""
    return _STEP_OF.get(rule, "evaluate" if rule.startswith("evaluate_") else _OTHERS)


# What the rows of the table can be.
BY: dict[str, Callable[[Job], str]] = {
    "step": lambda job: phase_of(job.step),
    "rule": lambda job: job.step,
    "model": lambda job: job.of or "all",
}
_COLUMNS = ("jobs", "core_hours", "longest_hours", "disk_gb", "memory_gb")


def planned_run(
    *,
    configfiles: Sequence[Path] = (),
    config: Mapping[str, Any] | None = None,
    targets: Iterable[str] = (),
    cores: int = 1,
    everything: bool = False,
) -> PlannedRun:
    """Return the run that `snakemake` would start here; with `everything`, as if no results existed.

    Raises:
        InputError: there is no Snakefile here, or the run cannot be planned; the pipeline says why.
    """
    from snakemake.api import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings, SnakemakeApi
    from snakemake.exceptions import RuleException, WorkflowError
    from snakemake.settings.enums import RerunTrigger

    snakefile = Path("Snakefile")
    if not snakefile.is_file():
        raise InputError(f"{snakefile}: is not a file: run this in the folder of the pipeline")
    # If a file is neither JSON nor YAML, this names the file and the line, which Snakemake does not.
    read_config(configfiles or [DEFAULT_CONFIG])
    # Snakemake always lists a dry run on standard error.
    with redirect_stderr(io.StringIO()), SnakemakeApi(OutputSettings(dryrun=True)) as api:
        try:
            workflow = api.workflow(
                ResourceSettings(cores=cores),
                ConfigSettings(config=dict(config or {}), configfiles=list(configfiles)),
                snakefile=snakefile,
            )
            # The same triggers as in profiles/default.
            triggers = RerunTrigger.all() - {RerunTrigger.CODE}
            dag = workflow.dag(
                DAGSettings(targets=set(targets), forceall=everything, rerun_triggers=triggers)
            )
            dag.execute_workflow(executor="dryrun")
        except (WorkflowError, RuleException) as error:
            raise InputError(*str(error).splitlines()) from None
        return run_of(workflow._workflow)


def run_of(workflow: Any) -> PlannedRun:
    """Return the jobs that a workflow of Snakemake, whose graph is made, still has to run."""
    corpora, needs = workflow.globals["corpora"], workflow.globals["needs"]
    run = PlannedRun(corpora.config, corpora.datasets, corpora.opus_corpora)
    places: dict[Any, int] = {}
    for level in workflow.dag.toposorted():
        for job in sorted(level, key=lambda job: (job.rule.name, job.format_wildcards("{wildcards}"))):
            # Rules that only collect targets have no output.
            if not workflow.dag.needrun(job) or not job.output:
                continue
            wildcards = dict(job.wildcards_dict)
            kinds = ("model", "system", "mined", "corpus")
            if "system" in wildcards and needs.is_guessed(wildcards["system"]):
                run.guessed.add(needs.place(wildcards["system"]))
            # `resources.Needs` attached this function, which knows the rule's step.
            need = job.rule.resources["mem_mb"]._evaluator.need
            after = tuple(places[other] for other in workflow.dag.dependencies[job] if other in places)
            places[job] = len(run.jobs)
            run.jobs.append(
                Job(
                    step=job.rule.name,
                    of=next((wildcards[kind] for kind in kinds if kind in wildcards), ""),
                    wildcards=wildcards,
                    inputs=tuple(map(str, job.input)),
                    outputs=tuple(map(str, job.output)),
                    threads=job.threads,
                    after=after,
                    need=partial(need, job.wildcards, job.input),
                    number=workflow.dag.jobid(job),
                )
            )
    return run


@dataclass(frozen=True, slots=True)
class Cost:
    """What one job takes, or several together, as measured and without margins.

    Attributes:
        core_seconds: processor time.
        seconds: time by the clock of the longest job, on an otherwise idle machine.
        memory_mb: most memory of any job.
        disk_mb: size of the outputs.
        temporary_mb: most disk space that any job has only while it runs.
        name: name of the jobs' step, rule or model.
        jobs: number of jobs.
    """

    core_seconds: float = 0.0
    seconds: float = 0.0
    memory_mb: float = 0.0
    disk_mb: float = 0.0
    temporary_mb: float = 0.0
    name: str = ""
    jobs: int = 1


def together(name: str, costs: Sequence[Cost]) -> Cost:
    """Return what several jobs take: the sum of processor time and disk, and the maximum of the rest."""
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
    """Return what a job takes; `sizes` must know its inputs, and afterwards also knows its outputs."""
    need, disk, temporary = sizes.add(job)
    step = _CHECKING if job.step == "download_file" else need.seconds
    threads = 1 if job.step == ALONE else job.threads
    return Cost(STARTING + step, STARTING + step / threads, need.mb, disk, temporary)


def wall_seconds(jobs: Sequence[Job], costs: Sequence[Cost], cores: int) -> float:
    """Return seconds by the clock on this number of cores.

    Jobs start in their order, as soon as the jobs that they wait for are done and enough cores are free.
    """
    waiting = TopologicalSorter({place: job.after for place, job in enumerate(jobs)})
    waiting.prepare()
    ready: list[int] = []
    running: list[tuple[float, int]] = []
    now, free = PLANNING if jobs else 0.0, cores
    while waiting.is_active():
        ready += waiting.get_ready()
        # Like Snakemake, this passes over a job that does not fit.
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
        rows: costs of the jobs by step, rule or model, and a row for Snakemake's own work.
        total: all rows together.
        cores: number of cores that the run has.
        seconds: time by the clock on these cores.
        chain_seconds: time by the clock on as many cores as the jobs could use.
        assumed: data sets other than corpora whose size is a guess.
        guessed: Transformers whose size is a guess.
    """

    rows: list[Cost]
    total: Cost
    cores: int
    seconds: float
    chain_seconds: float
    assumed: list[str]
    guessed: list[str]


def make_plan(
    run: PlannedRun, *, cores: int, by: str, pairs: Mapping[str, int], kept: Mapping[str, float]
) -> Plan:
    """Plan a run on a number of cores; `pairs` and `kept` are as in `Sizes`, `by` is a key of `BY`.

    Raises:
        InputError: the size of a corpus is unknown, or an option names no corpus.
    """
    sizes = Sizes(run, pairs, kept)
    costs = [cost_of(job, sizes) for job in run.jobs]
    if sizes.unknown:
        names = sorted(sizes.unknown)
        example = " ".join(f"{name}=1000000" for name in names)
        raise InputError(
            f"the number of pairs in {', '.join(names)} is not known before the download: give it, such as "
            f"--pairs {example}"
        )
    by_name: dict[str, list[Cost]] = {}
    for job, cost in zip(run.jobs, costs, strict=True):
        by_name.setdefault(BY[by](job), []).append(cost)
    # Steps come in the order of `_STEPS`; rules and models stay in the order of the jobs.
    places = {name: place for place, name in enumerate([*_STEPS, _OTHERS])}
    names = sorted(by_name, key=lambda name: places.get(name, 0))
    planning = Cost(PLANNING + SCHEDULING * len(costs) if costs else 0.0, name="snakemake", jobs=0)
    return Plan(
        rows=[*(together(name, by_name[name]) for name in names), planning],
        total=together("total", [*costs, planning]),
        cores=cores,
        seconds=wall_seconds(run.jobs, costs, cores),
        chain_seconds=wall_seconds(run.jobs, costs, sum(job.threads for job in run.jobs)),
        assumed=sorted(sizes.assumed),
        guessed=sorted(run.guessed),
    )


def lines_of(plan: Plan) -> list[str]:
    """Return the lines of a plan for the terminal: a table, the time by the clock, and the assumptions."""
    if not plan.total.jobs:
        return ["nothing is left to run; with --all, the plan includes what is already made"]
    cells: list[tuple[str, ...]] = [("", "jobs", "core time", "longest job", "disk", "memory")]
    for row in (*plan.rows, plan.total):
        of_jobs = f"{row.jobs:,}", duration(row.seconds), size(row.disk_mb), f"{row.memory_mb:,.0f} MB"
        jobs, *others = of_jobs if row.jobs else ("",) * len(of_jobs)
        cells.append((row.name, jobs, duration(row.core_seconds), *others))
    lines = [
        *in_columns(cells),
        "",
        f"about {duration(plan.seconds)} on {plan.cores} cores, {duration(plan.chain_seconds)} on any number "
        "of cores, plus the time for downloads and queues",
    ]
    if plan.total.temporary_mb >= 1:
        lines.append(f"merging needs up to {size(plan.total.temporary_mb)} more on the disk")
    lines.append(
        f"{KEPT:.0%} of the pairs in each corpus are assumed to be kept unless --kept says otherwise"
    )
    if plan.assumed:
        lines.append(f"assumed to be small, because their sizes are not known: {', '.join(plan.assumed)}")
    if plan.guessed:
        lines.append(
            f"assumed to have {TRANSFORMER_MB} MB of weights, as they are not downloaded yet: "
            f"{', '.join(plan.guessed)}; the time grows with the size"
        )
    return lines


def write_plan(plan: Plan, output: str | Path) -> None:
    """Write a plan as CSV or JSON, depending on the ending of the file's name.

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
            "guessed": plan.guessed,
        }
        write_json(output, content)
    elif Path(output).suffix == ".csv":
        write_csv(output, ["name", *_COLUMNS], rows)
    else:
        raise InputError(f"{output}: a plan is written as .csv or .json")
