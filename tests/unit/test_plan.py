"""Test the arithmetic of plans against figures that were computed by hand."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from configurations import configured, load

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.registry.datasets import Dataset, RemoteFile
from paraphrastic_pipeline.registry.opus import OpusCorpus
from paraphrastic_pipeline.settings.check import complete_definition
from paraphrastic_pipeline.settings.sections.configuration import Configuration
from paraphrastic_pipeline.workflow.need import NEEDS, Need
from paraphrastic_pipeline.workflow.plan import (
    PLANNING,
    SCHEDULING,
    STARTING,
    Cost,
    cost_of,
    lines_of,
    make_plan,
    wall_seconds,
    write_plan,
)
from paraphrastic_pipeline.workflow.sizes import Job, PlannedRun, Sizes

DOWNLOAD = "resources/downloads/web/de-en.txt.zip"


def job(step: str, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = (), **more: Any) -> Job:
    need = of_table(step, *inputs)
    given: dict[str, Any] = {"of": "de", "wildcards": {}, "threads": 1, "after": (), "need": need, **more}
    return Job(step=step, inputs=inputs, outputs=outputs, **given)


def of_table(step: str, *inputs: str, share: float = 1.0) -> Callable[[Any], Need]:
    """Return a job's need by the table, of which it reads a share of the inputs."""
    return lambda megabytes: NEEDS.get(step, Need(100, 0)).of(share * megabytes(inputs))


def configuration(**changes: Any) -> Configuration:
    config = configured(load("config"))
    definition = complete_definition({"languages": ["en", "de"], "corpora": ["web"], **changes})
    return replace(
        config,
        definitions={"de": definition},
        shards=4,
    )


def run_of(jobs: list[Job], *, size: int | None = None, **changes: Any) -> PlannedRun:
    file = RemoteFile("web", "de-en.txt.zip", ("de", "en"), ("https://host/web.zip",), size=size)
    return PlannedRun(
        configuration(**changes), {"web": Dataset("web", "1", "opus", "none", (file,))}, {}, jobs
    )


def to_training_data() -> list[Job]:
    """Return the jobs from the download of a corpus in four shards to its training data."""
    names = {"corpus": "web", "pair": "en-de"}
    model = {"model": "de"}
    shards = tuple(f"scored-{number}" for number in range(4))
    shard_need = of_table("score_pairs", "pairs", share=0.25)
    return [
        job("download_file", (), (DOWNLOAD,)),
        job("extract_corpus", (DOWNLOAD,), ("pairs", "unreadable"), wildcards=names),
        *[job("score_pairs", ("pairs",), (shard,), wildcards=names, need=shard_need) for shard in shards],
        job("select_pairs", shards, ("selected", "counts"), wildcards={**model, "corpus": "web"}),
        job("merge_pairs", ("selected",), ("merged", "counts"), wildcards=model),
        job("encode_dataset", ("merged",), ("train.h5",), wildcards=model),
        job("train_model", ("train.h5",), ("weights", "config"), need=lambda _: Need(2000, 9000, 206)),
    ]


def sizes_of(run: PlannedRun, **options: Any) -> Sizes:
    sizes = Sizes(run, **options)
    for each in run.jobs:
        sizes.add(each)
    return sizes


def test_files_grow_from_the_number_of_pairs() -> None:
    sizes = sizes_of(run_of(to_training_data()), pairs={"web": 1_000_000}, kept={"web": 0.5})
    assert sizes.megabytes(DOWNLOAD) == pytest.approx(40)
    assert sizes.megabytes("pairs") == pytest.approx(50)
    assert sizes.megabytes("scored-3") == pytest.approx(50 / 4 * 1.08)
    assert sizes.megabytes("selected") == pytest.approx(54 * 0.9 * 0.5)
    assert sizes.megabytes("merged") == pytest.approx(54 * 0.45 * 1.08)
    assert sizes.megabytes("train.h5") == pytest.approx(54 * 0.45 * 1.08 * 2.6)
    assert sizes.megabytes(["weights", "config"]) == pytest.approx(206)


def test_a_cap_holds_whatever_the_corpus_has() -> None:
    capped = run_of(to_training_data(), max_pairs={"web": 10_000})
    assert sizes_of(capped, pairs={"web": 1_000_000}).megabytes("merged") == pytest.approx(0.51)
    assert sizes_of(capped, pairs={"web": 1_000}).megabytes("merged") == pytest.approx(0.05 * 1.08**2 * 0.81)
    heavy = run_of(to_training_data(), max_pairs={"web": 10_000}, weights={"web": 3})
    assert sizes_of(heavy, pairs={"web": 1_000_000}).megabytes("merged") == pytest.approx(3 * 0.51)


def test_merging_takes_more_of_the_disk_while_it_runs() -> None:
    run = run_of(to_training_data())
    sizes = Sizes(run, {"web": 1_000_000})
    costs = [cost_of(each, sizes) for each in run.jobs]
    # 54 * 0.9 * 0.9 MB are selected.
    assert max(cost.temporary_mb for cost in costs) == pytest.approx(43.74 * 2.75)


def test_sizes_are_the_mirrors_then_the_registrys_then_those_of_opus(tmp_path: Path) -> None:
    run = run_of(to_training_data()[:1], size=3_000_000)
    assert sizes_of(run).megabytes(DOWNLOAD) == 3
    listed = OpusCorpus("web", "1", ("de", "en"), "https://host/web.zip", 100_000, 5_000_000)
    without = PlannedRun(run.config, run_of([]).datasets, {DOWNLOAD: listed}, run.jobs)
    assert sizes_of(without).megabytes(DOWNLOAD) == 5
    (tmp_path / "host").mkdir()
    (tmp_path / "host/web.zip").write_bytes(bytes(7_000))
    mirrored = PlannedRun(replace(run.config, mirror=str(tmp_path)), run.datasets, {}, run.jobs)
    assert sizes_of(mirrored).megabytes(DOWNLOAD) == 0.007


def test_corpora_of_unknown_size_are_named() -> None:
    with pytest.raises(InputError, match=r"the number of pairs in web is not known .* --pairs web=1000000"):
        make_plan(run_of(to_training_data()), cores=2, by="step", pairs={}, kept={})
    with pytest.raises(InputError, match="'wbe' is not a corpus of the configuration"):
        make_plan(run_of(to_training_data()), cores=2, by="step", pairs={"wbe": 1}, kept={})
    missing = run_of([job("extract_corpus", ("gone.zip",), ("pairs",), wildcards={"corpus": "web"})])
    with pytest.raises(FileNotFoundError, match=r"gone\.zip"):
        make_plan(missing, cores=2, by="step", pairs={}, kept={})


def test_a_job_takes_its_step_and_its_start() -> None:
    sizes = Sizes(run_of(to_training_data()[:1]), {"web": 1_000_000})
    sizes.add(sizes.run.jobs[0])
    extraction = job(
        "extract_corpus",
        (DOWNLOAD,),
        ("pairs",),
        wildcards={"corpus": "web"},
        need=lambda megabytes: Need(100, 0, seconds_per_mb=0.5, disk_per_mb=1).of(megabytes(DOWNLOAD)),
        threads=4,
    )
    cost = cost_of(extraction, sizes)
    assert cost == Cost(pytest.approx(STARTING + 20), pytest.approx(STARTING + 5), 100, pytest.approx(50), 0)
    # Speed is measured with one thread, and nothing else runs meanwhile.
    alone = cost_of(job("measure_speed", (), ("speed",), threads=4, need=lambda _: Need(1, 8)), sizes)
    assert alone.seconds == alone.core_seconds == STARTING + 8


def chain_and_others() -> tuple[list[Job], list[Cost]]:
    """Return a chain of jobs of 10 s and 20 s, and three jobs of 10 s, one of which uses two threads."""
    jobs = [job("a"), job("b", after=(0,)), job("c"), job("d"), job("e", threads=2)]
    return jobs, [Cost(seconds, seconds, 1, 1, 0) for seconds in (10.0, 20.0, 10.0, 10.0, 10.0)]


@pytest.mark.parametrize(
    ("cores", "seconds", "levels"),
    [
        (1, 60, 5),  # one after the other; the job that asks for two threads gets one
        (2, 40, 3),  # a and c, then b and d, then e
        (9, 30, 2),  # as long as the chain
    ],
)
def test_the_clock_respects_cores_and_order(cores: int, seconds: float, levels: int) -> None:
    jobs, costs = chain_and_others()
    assert wall_seconds(jobs, costs, cores) == pytest.approx(PLANNING + seconds + levels * SCHEDULING)


def test_snakemake_starts_one_job_after_the_other() -> None:
    jobs, costs = [job("a")] * 100, [Cost(1, 1, 1, 1, 0)] * 100
    assert wall_seconds(jobs, costs, 100) == pytest.approx(PLANNING + 100 * SCHEDULING)


def test_nothing_takes_no_time() -> None:
    plan = make_plan(run_of([]), cores=2, by="step", pairs={}, kept={})
    assert (plan.seconds, plan.total.core_seconds) == (0, 0)
    assert lines_of(plan) == ["nothing is left to run; with --all, the plan includes what is already made"]


def test_rows_add_up(tmp_path: Path) -> None:
    run = run_of(to_training_data())
    for by, names in (
        ("step", {"download", "score", "train models"}),
        ("rule", {"score_pairs"}),
        ("model", {"de"}),
    ):
        plan = make_plan(run, cores=2, by=by, pairs={"web": 1_000_000}, kept={})
        assert names <= {row.name for row in plan.rows}
        assert sum(row.jobs for row in plan.rows) == plan.total.jobs == 10
        for figure in ("core_seconds", "disk_mb"):
            assert sum(getattr(row, figure) for row in plan.rows) == pytest.approx(
                getattr(plan.total, figure)
            )
        assert max(row.memory_mb for row in plan.rows) == plan.total.memory_mb == 2000
    text = "\n".join(lines_of(plan))
    assert "on 2 cores" in text
    assert "90% of the pairs in each corpus are assumed to be kept" in text
    assert "MB of weights" not in text
    guessed = make_plan(replace(run, guessed={"owner/name"}), cores=2, by="rule", pairs={"web": 10}, kept={})
    assert "500 MB of weights, as they are not downloaded yet: owner/name;" in lines_of(guessed)[-1]
    write_plan(plan, tmp_path / "plan.csv")
    rows = read_csv(tmp_path / "plan.csv")
    assert [row["name"] for row in rows] == ["de", "snakemake", "total"]
    write_plan(plan, tmp_path / "plan.json")
    told = json.loads((tmp_path / "plan.json").read_text())
    assert float(rows[-1]["core_hours"]) == told["rows"][-1]["core_hours"]
    assert told["wall_hours"] == pytest.approx(plan.seconds / 3600)
    with pytest.raises(InputError, match=r"plan\.txt: a plan is written as \.csv or \.json"):
        write_plan(plan, tmp_path / "plan.txt")


def test_a_job_waits_for_all_that_it_needs() -> None:
    jobs = [job("short"), job("long"), job("both", after=(0, 1))]
    costs = [Cost(seconds, seconds, 1, 1, 0) for seconds in (10.0, 30.0, 5.0)]
    assert wall_seconds(jobs, costs, 4) == pytest.approx(PLANNING + 35 + 2 * SCHEDULING)
