"""Test the pipeline on a Slurm of two nodes: equal results, second attempts, and resuming after a kill."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent

import pytest
from clusters import Cluster
from pipelines import copy_pipeline

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow("starts a Slurm"),
    pytest.mark.timeout(1200),
]

# The steps of the sample take seconds, so Snakemake checks its jobs often. The profile sets the rest.
SNAKEMAKE = [
    *(sys.executable, "-m", "snakemake", "--nocolor", "--profile", "profiles/slurm"),
    *("--slurm-init-seconds-before-status-checks", "3"),
]
MODEL = "results/models/fr/model.safetensors"
RESULT = "results/eval/fr/sts.json"
EXTRACTED = "results/pairs/sample_aligned/en-fr.parquet"
TESTSETS = "results/testsets/sts.parquet"
SCORED = "results/scored/sample_aligned/en-fr/1-of-1.parquet"
STARTED_STEP = "with step(snakemake):\n"


def prepare(folder: Path, **faults: str) -> Path:
    """Copy the pipeline and add code to the script that runs all steps, for those of some rules."""
    copy_pipeline(folder)
    script = folder / "workflow/scripts/run.py"
    text = script.read_text()
    assert STARTED_STEP in text
    added = "".join(
        f"if snakemake.rule == {rule!r}:\n{indent(fault, '    ')}\n" for rule, fault in faults.items()
    )
    script.write_text(text.replace(STARTED_STEP, added + STARTED_STEP))
    return folder


@pytest.fixture
def faulty(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """Start a run in which one step needs more memory than it asks for and another is too slow at first."""
    folder = prepare(
        tmp_path_factory.mktemp("faulty") / "pipeline",
        # The step takes more than the 900 MB of the first attempt and less than the 1,400 MB of the second.
        # Slurm looks at the memory every two seconds.
        extract_corpus="ballast = b'x' * 800_000_000; import time; time.sleep(8)",
        prepare_testsets="import time; time.sleep(300 if snakemake.resources.runtime == 1 else 0)",
    )
    attempts = ("--set-resources", "prepare_testsets:runtime=attempt")
    with started(cluster, folder, *attempts, "--", EXTRACTED, TESTSETS) as process:
        yield folder, process


@pytest.fixture(scope="module")
def without_tables(
    cluster: Cluster, finished_once: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """Start a run that makes all tables, figures and the page of a copy of the finished run."""
    folder = Path(shutil.copytree(finished_once, tmp_path_factory.mktemp("tables") / "pipeline"))
    for made in ("results/tables", "results/figures"):
        shutil.rmtree(folder / made)
    with started(cluster, folder, "--", "paper_tables", "results/report.html") as process:
        yield folder, process


@contextmanager
def started(cluster: Cluster, folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [*SNAKEMAKE, *arguments],
        cwd=folder,
        env=cluster.environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        yield process
        process.kill()


@pytest.mark.usefixtures("without_tables")
def test_failed_jobs_get_more_memory_and_time_and_two_nodes_the_same_digits(
    cluster: Cluster,
    finished_once: Path,
    faulty: tuple[Path, subprocess.Popen[str]],
    tmp_path: Path,
) -> None:
    # All runs go side by side, since they mostly wait: the faulty one for a time limit of at least a minute.
    folder = prepare(tmp_path / "pipeline")
    run = cluster.run(*SNAKEMAKE, "--", RESULT, cwd=folder)
    assert run.returncode == 0, run.stdout
    for made in (MODEL, RESULT):
        assert (folder / made).read_bytes() == (finished_once / made).read_bytes()
    jobs = cluster.ended(folder)
    assert {job["NodeList"] for job in jobs} == {"n1", "n2"}
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    # Downloads are not submitted as jobs, and some short steps share a job.
    steps = run.stdout.count("Finished jobid")
    assert len(jobs) < steps - 6

    folder, process = faulty
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 0, output
    assert (folder / EXTRACTED).exists()
    assert (folder / TESTSETS).exists()
    jobs = cluster.ended(folder)
    memory = {"900M": "first", "1400M": "second"}
    extracted = {
        memory[size]: job["JobState"] for job in jobs for size in memory if f"mem={size}," in job["Tres"]
    }
    assert extracted["second"] == "COMPLETED"
    assert extracted["first"] != "COMPLETED"
    limited = [(job["TimeLimit"], job["JobState"]) for job in jobs if job["TimeLimit"] in ("1", "2")]
    assert limited == [("1", "TIMEOUT"), ("2", "COMPLETED")]


def test_a_few_short_jobs_make_all_tables_figures_and_the_page(
    cluster: Cluster, finished_once: Path, without_tables: tuple[Path, subprocess.Popen[str]]
) -> None:
    folder, process = without_tables
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 0, output
    for table in (finished_once / "results/tables").glob("*.csv"):
        assert (folder / "results/tables" / table.name).read_bytes() == table.read_bytes()
    jobs = cluster.ended(folder)
    assert {job["Partition"] for job in jobs} == {"short"}
    assert len(jobs) <= 12
    assert output.count("Finished jobid") > 40


def test_a_killed_run_goes_on_where_it_was(cluster: Cluster, tmp_path: Path) -> None:
    # Scoring waits for a file, so the run can be killed in the meantime.
    waiting = "import pathlib, time\nwhile not pathlib.Path('go').exists():\n    time.sleep(0.5)"
    folder = prepare(tmp_path / "pipeline", score_pairs=waiting)
    asked = cluster.run("generate-slurm-partition-config", "-o", "partitions.yaml", cwd=folder)
    assert asked.returncode == 0, asked.stdout
    # This is longer than the default partition allows.
    longer = ("--slurm-partition-config", "partitions.yaml", "--set-resources", "score_pairs:runtime=60")
    command = [*SNAKEMAKE, *longer, "--", SCORED]
    # This is an earlier run of the same folder; its jobs have ended.
    assert cluster.run(*SNAKEMAKE, *longer, "--", EXTRACTED, cwd=folder).returncode == 0
    with subprocess.Popen(
        command, cwd=folder, env=cluster.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        wait_for(lambda: str(folder) in cluster.queue("RUNNING") and "Measure the pairs of" in log_of(folder))
        os.kill(process.pid, signal.SIGKILL)
    before = (folder / EXTRACTED).stat().st_mtime_ns

    locked = cluster.run(*command, cwd=folder)
    assert locked.returncode != 0
    assert "--unlock" in locked.stdout
    # The jobs go on without Snakemake.
    assert str(folder) in cluster.queue("RUNNING")
    unlock = cluster.run("profiles/slurm/unlock.sh", cwd=folder)
    assert unlock.returncode == 0, unlock.stdout
    assert str(folder) not in cluster.queue("RUNNING,PENDING,COMPLETING")

    (folder / "go").touch()
    run = cluster.run(*command, cwd=folder)
    assert run.returncode == 0, run.stdout
    assert (folder / SCORED).exists()
    assert "Measure the pairs of corpus sample_aligned" in run.stdout
    partitions = {job["TimeLimit"]: job["Partition"] for job in cluster.ended(folder)}
    assert partitions["60"] == "long"
    assert "Read the pairs of corpus sample_aligned" not in run.stdout
    assert (folder / EXTRACTED).stat().st_mtime_ns == before


def log_of(folder: Path) -> str:
    """Return the text of all of Snakemake's own logs in a folder."""
    logs = (folder / ".snakemake" / "log").glob("*.log")
    return "".join(log.read_text(errors="replace") for log in logs)


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until `condition` is true: at most ten minutes, since the machine may be busy."""
    end = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)
