"""A plan for people and programs: tables of what a run takes, by step, rule or model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_csv, write_json
from paraphrastic.pipeline.estimate import size
from paraphrastic.pipeline.run_plan.costs import Row, cost_of, row_of, rows_by, snakemake_row, wall_seconds
from paraphrastic.pipeline.run_plan.jobs import Job, Run
from paraphrastic.pipeline.run_plan.sizes import KEPT, Sizes

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
class Plan:
    """What a run takes.

    `rows` are by what was asked for; with them goes a row of Snakemake's own work. `seconds` are by the clock
    on `cores`; `temporary_mb` is the most that merging has on the disk beside its output. `assumed` are data
    sets, no corpora, whose size is a guess.
    """

    rows: list[Row]
    total: Row
    cores: int
    seconds: float
    chain_seconds: float
    temporary_mb: float
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
    names = [BY[by](job) for job in run.jobs]
    rows = sorted(rows_by(names, costs), key=lambda row: _place(row.name))
    own = snakemake_row(len(run.jobs))
    jobs = row_of("total", costs)
    total = Row(
        "total",
        jobs.jobs,
        jobs.core_seconds + own.core_seconds,
        jobs.longest,
        jobs.disk_mb,
        jobs.memory_mb,
    )
    return Plan(
        rows=[*rows, own],
        total=total,
        cores=cores,
        seconds=wall_seconds(run.jobs, costs, cores),
        # As many cores as any jobs could use.
        chain_seconds=wall_seconds(run.jobs, costs, sum(job.threads for job in run.jobs)),
        temporary_mb=max((cost.temporary_mb for cost in costs), default=0.0),
        assumed=sorted(sizes.assumed),
    )


def _place(name: str) -> int:
    """Of a step in the table; rules and models stay as the data flows."""
    steps = [*_STEPS, _OTHERS]
    return steps.index(name) if name in steps else 0


def lines_of(plan: Plan) -> list[str]:
    """The plan for a terminal: a table, then what it comes to and what it rests on."""
    if not plan.total.jobs:
        return ["nothing is left to run; --all plans what is there already, too"]
    cells = [("", "jobs", "core time", "longest job", "disk", "memory")]
    for row in (*plan.rows, plan.total):
        used = row.jobs > 0
        cells.append(
            (
                row.name,
                f"{row.jobs:,}" if used else "",
                spoken(row.core_seconds),
                spoken(row.longest) if used else "",
                size(round(row.disk_mb * 1e6)) if used else "",
                f"{row.memory_mb:,.0f} MB" if used else "",
            )
        )
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    table = [
        "  ".join(
            f"{cell:{'<' if column == 0 else '>'}{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    lines = [
        *table,
        "",
        f"about {spoken(plan.seconds)} on {plan.cores} cores, {spoken(plan.chain_seconds)} on any number of "
        "them, beside what downloads and queues wait",
    ]
    if plan.temporary_mb >= 1:
        lines.append(f"merging has up to {size(round(plan.temporary_mb * 1e6))} more on the disk")
    lines.append(f"of each corpus, {KEPT:.0%} of the pairs are taken to be kept unless --kept says otherwise")
    if plan.assumed:
        lines.append(f"taken to be small, since their sizes are not known: {', '.join(plan.assumed)}")
    return lines


def spoken(seconds: float) -> str:
    """A time in a unit that is easy to read."""
    if seconds >= 7200:
        return f"{seconds / 3600:,.1f} h"
    return f"{seconds / 60:,.1f} min" if seconds >= 120 else f"{seconds:,.1f} s"


def write_plan(plan: Plan, output: str | Path) -> None:
    """Write a plan as CSV or JSON, by the ending of the file's name.

    Raises:
        InputError: the name has another ending.
    """
    rows = [_record(row) for row in (*plan.rows, plan.total)]
    if Path(output).suffix == ".json":
        totals: dict[str, Any] = {
            "cores": plan.cores,
            "wall_hours": plan.seconds / 3600,
            "least_wall_hours": plan.chain_seconds / 3600,
            "temporary_disk_gb": plan.temporary_mb / 1000,
            "assumed": plan.assumed,
        }
        write_json(output, {"rows": rows, **totals})
    elif Path(output).suffix == ".csv":
        write_csv(output, ["name", *_COLUMNS], rows)
    else:
        raise InputError(f"{output}: a plan is written as .csv or .json")


def _record(row: Row) -> dict[str, Any]:
    values = (row.jobs, row.core_seconds / 3600, row.longest / 3600, row.disk_mb / 1e3, row.memory_mb / 1e3)
    rounded = (round(value, 6) for value in values)
    return {"name": row.name, **dict(zip(_COLUMNS, rounded, strict=True))}
